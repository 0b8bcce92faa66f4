// Package zone sets the local time zone from the variable TZ.
//
// Go reads TZ once, and may do so before its embedded zones are registered. It also takes UTC for a zone that it
// cannot load. A callback would then be saved hours late, so the programs set the zone themselves:
//
//	if err := zone.Set(os.Getenv); err != nil { … }
package zone

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	_ "time/tzdata" // Zones for machines that have none.
)

// Set sets time.Local to the zone that TZ names. Without TZ the system's zone stays. The error names the zone that
// cannot be loaded; time.Local is then UTC.
func Set(getenv func(string) string) error {
	name := strings.TrimPrefix(getenv("TZ"), ":")
	if name == "" {
		return nil
	}
	zone, err := load(name)
	if err != nil {
		time.Local = time.UTC
		return fmt.Errorf("TZ=%q names no time zone; write a name such as Europe/Amsterdam", name)
	}
	time.Local = zone
	return nil
}

// load reads a zone by its name, or from a file of the system's zones.
func load(name string) (*time.Location, error) {
	if !filepath.IsAbs(name) {
		return time.LoadLocation(name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return time.LoadLocationFromTZData(name, data)
}
