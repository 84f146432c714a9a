// Package delegate runs every query that is not a WITHIN join on streamsql and
// keeps it from losing anything silently.
package delegate
