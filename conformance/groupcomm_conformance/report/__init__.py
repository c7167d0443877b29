"""The output of `groupcomm report`: all results, as JUnit XML for programs and as HTML pages for people.

`findings` asks `check`, `conform` and `scenario` for their results; `junit` and `page` write them down, and
`story` makes of a counterexample something that can be stepped through.
"""
