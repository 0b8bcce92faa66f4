package desk

// german is the texts of the Desk in German.
var german = map[string]string{}
