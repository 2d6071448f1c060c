module foresail.local/echo

go 1.22
