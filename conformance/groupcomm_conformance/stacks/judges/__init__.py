"""What a stack must give, judged as it runs."""
