package desk

// dutch is the texts of the Desk in Dutch.
var dutch = map[string]string{}
