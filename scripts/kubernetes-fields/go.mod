module kubernetes-fields

go 1.21
