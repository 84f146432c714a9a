package reference

// OutputMap builds the map of one result.
//
//go:noinline
func OutputMap(key string, temperature, vibration float64) map[string]any {
	return map[string]any{"deviceId": key, "temperature": temperature, "vibration": vibration}
}
