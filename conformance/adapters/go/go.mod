module groupcomm.example/port

go 1.19
