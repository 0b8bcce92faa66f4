package main

import (
	"errors"
	"math/rand/v2"
)

func sample(work string, n int, random *rand.Rand) error { return errors.New("later") }
