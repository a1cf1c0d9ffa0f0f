module edgeoracle

go 1.23
