// Answers every request with the name of its pod: what the sandbox's Deployment check asks.
package main

import (
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	name, err := os.Hostname()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	server := &http.Server{
		Addr:              ":8080",
		ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
			fmt.Fprintln(answer, name)
		}),
	}
	fmt.Fprintln(os.Stderr, server.ListenAndServe())
	os.Exit(1)
}
