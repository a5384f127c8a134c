module executorch

go 1.19
