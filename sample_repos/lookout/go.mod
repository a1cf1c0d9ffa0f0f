module example.org/lookout

go 1.22
