package eval

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

const (
	no      = value.False
	yes     = value.True
	unknown = value.Unknown
)

func TestPredicates(t *testing.T) {
	f := fields{
		"n": 80.5, "i": 7, "big": jsonNumber("9007199254740993"), "text": "80.5", "name": "Sensor-7", "empty": "",
		"none": nil, "nan": math.NaN(), "up": true, "down": false, "list": jsonValue(`[1,2]`), "at": time.Unix(5, 0),
		"unicode": "aéb",
	}
	many := "(1, 2, 3, 4, 5, 6, 8, 9, 10, 11"
	tests := map[string]struct {
		want     value.Tri
		mismatch int64
	}{
		"n > 75":                      {yes, 0},
		"75 < n":                      {yes, 0},
		"n >= 80.50":                  {yes, 0},
		"n != 80.5":                   {no, 0},
		"n = 80.5000":                 {yes, 0},
		"big = 9007199254740992":      {no, 0},
		"big = 9007199254740993":      {yes, 0},
		"text > 75":                   {unknown, 1},
		"text = 80.5":                 {unknown, 1},
		"text != 80.5":                {unknown, 1},
		"text = '80.5'":               {yes, 0},
		"'75' > 5":                    {unknown, 1},
		"none = none":                 {unknown, 0},
		"none != 1":                   {unknown, 0},
		"NOT none > 1":                {unknown, 0},
		"nan > 1":                     {unknown, 0},
		"nan = nan":                   {unknown, 0},
		"nan IS NULL":                 {no, 0},
		"up":                          {yes, 0},
		"NOT up":                      {no, 0},
		"up = TRUE":                   {yes, 0},
		"down < up":                   {yes, 0},
		"none":                        {unknown, 0},
		"NOT none":                    {unknown, 0},
		"n":                           {unknown, 1},
		"NOT text":                    {unknown, 1},
		"1":                           {unknown, 1},
		"TRUE":                        {yes, 0},
		"NULL":                        {unknown, 0},
		"list = list":                 {yes, 0},
		"list < list":                 {no, 0},
		"at = at":                     {yes, 0},
		"at > 'yesterday'":            {unknown, 1},
		"none IS NULL":                {yes, 0},
		"none IS NOT NULL":            {no, 0},
		"n IS NULL":                   {no, 0},
		"(n > none) IS NULL":          {yes, 0},
		"up AND none":                 {unknown, 0},
		"down AND none":               {no, 0},
		"none AND down":               {no, 0},
		"up OR none":                  {yes, 0},
		"none OR up":                  {yes, 0},
		"down OR none":                {unknown, 0},
		"up AND up AND down AND text": {no, 0},
		"down OR down OR up OR text":  {yes, 0},
		"up AND text":                 {unknown, 1},
		"i IN (1, 7)":                 {yes, 0},
		"i IN (1, 2)":                 {no, 0},
		"i IN (1, NULL)":              {unknown, 0},
		"i IN (7, NULL)":              {yes, 0},
		"i NOT IN (1, NULL)":          {unknown, 0},
		"i NOT IN (1, 2)":             {yes, 0},
		"i IN (1, 'a', 'b')":          {unknown, 1},
		"i IN ('a', 7)":               {yes, 0},
		"none IN (1, 2)":              {unknown, 0},
		"i IN (n, i)":                 {yes, 0},
		"i IN " + many + ", 7.0)":     {yes, 0},
		"i IN " + many + ")":          {no, 0},
		"i NOT IN " + many + ")":      {yes, 0},
		"i IN " + many + ", NULL)":    {unknown, 0},
		"i IN " + many + ", 'x')":     {unknown, 1},
		"none IN " + many + ")":       {unknown, 0},
		"nan IN " + many + ", NULL)":  {unknown, 0},
		"name IN " + many + ")":       {unknown, 1},
		"i BETWEEN 7 AND 7":           {yes, 0},
		"i BETWEEN 8 AND 9":           {no, 0},
		"i NOT BETWEEN 8 AND 9":       {yes, 0},
		"i BETWEEN none AND 9":        {unknown, 0},
		"i BETWEEN none AND 5":        {no, 0},
		"i BETWEEN 8 AND none":        {no, 0},
		"i NOT BETWEEN 1 AND none":    {unknown, 0},
		"text BETWEEN 1 AND 100":      {unknown, 1},
		"name LIKE 'Sensor%'":         {yes, 0},
		"name LIKE 'sensor%'":         {no, 0},
		"name LIKE '%-7'":             {yes, 0},
		"name LIKE '%nso%'":           {yes, 0},
		"name LIKE 'S%-_'":            {yes, 0},
		"name LIKE '%'":               {yes, 0},
		"empty LIKE '%'":              {yes, 0},
		"empty LIKE ''":               {yes, 0},
		"empty LIKE '_'":              {no, 0},
		"name LIKE ''":                {no, 0},
		"name LIKE 'Sensor-7'":        {yes, 0},
		"name NOT LIKE 'X%'":          {yes, 0},
		"name LIKE name":              {yes, 0},
		"name LIKE none":              {unknown, 0},
		"none LIKE '%'":               {unknown, 0},
		"n LIKE '8%'":                 {unknown, 1},
		"n LIKE n":                    {unknown, 1},
		"unicode LIKE 'a_b'":          {yes, 0},
		"unicode LIKE 'a__b'":         {no, 0},
		"CASE WHEN i = 7 THEN TRUE ELSE FALSE END": {yes, 0},
		"CASE WHEN i = 8 THEN TRUE END":            {unknown, 0},
	}
	for sql, tt := range tests {
		t.Run(sql, func(t *testing.T) {
			var ctx Context
			require.Equal(t, tt.want, decide(t, &ctx, sql, f), sql)
			require.Equal(t, tt.mismatch, ctx.TypeMismatch)
			require.Zero(t, ctx.FunctionErrors)

			require.Equal(t, value.Not(tt.want), decide(t, &Context{}, "NOT ("+sql+")", f))
		})
	}
}

// naive matches by trying every split, as the definition of LIKE reads.
func naive(text, pattern []rune) bool {
	if len(pattern) == 0 {
		return len(text) == 0
	}
	switch pattern[0] {
	case '%':
		for i := 0; i <= len(text); i++ {
			if naive(text[i:], pattern[1:]) {
				return true
			}
		}
		return false
	case '_':
		return len(text) > 0 && naive(text[1:], pattern[1:])
	}
	return len(text) > 0 && text[0] == pattern[0] && naive(text[1:], pattern[1:])
}

func TestLikeIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("abé")), 0, 8, -1).Draw(t, "text")
		pattern := rapid.StringOfN(rapid.SampledFrom([]rune("abé%_")), 0, 6, -1).Draw(t, "pattern")
		want := naive([]rune(text), []rune(pattern))
		require.Equal(t, want, compileLike(pattern)([]byte(text)))
		require.Equal(t, want, matchLike([]byte(text), []byte(pattern)))
	})
}

func TestLikeOfHostilePatternEnds(t *testing.T) {
	text := strings.Repeat("a", 20_000)
	require.False(t, matchLike([]byte(text), []byte(strings.Repeat("%a", 50)+"b")))
}

// A long IN list is looked up and a short one compared; both mean x = a OR x = b.
func TestInIsAChainOfComparisons(t *testing.T) {
	literal := rapid.SampledFrom([]string{"1", "1.0", "2", "'1'", "'a'", "TRUE", "NULL", "0.1", "1e400"})
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(literal, 1, 12).Draw(t, "list")
		f := fields{"x": rapid.SampledFrom([]any{1, jsonNumber("1.00"), "1", true, nil, 0.1, 3, "z", math.NaN()}).Draw(t, "x")}
		in, err := syntax.ParseExpr("x IN (" + strings.Join(list, ", ") + ")")
		require.NoError(t, err)
		or, err := syntax.ParseExpr("x = " + strings.Join(list, " OR x = "))
		require.NoError(t, err)
		pin, err := CompilePredicate(in, f.resolve)
		require.NoError(t, err)
		por, err := CompilePredicate(or, f.resolve)
		require.NoError(t, err)
		var a, b Context
		require.Equal(t, por(&b, f.row()), pin(&a, f.row()))
		require.Equal(t, min(b.TypeMismatch, 1) > 0 && pin(&a, f.row()) == unknown, a.TypeMismatch > 0)
	})
}

func TestMismatchIsCountedForEveryRow(t *testing.T) {
	f := fields{"x": "80.5"}
	pred, err := CompilePredicate(parse(t, "x > 75 OR 'a' > 1"), f.resolve)
	require.NoError(t, err)
	var ctx Context
	for range 3 {
		require.Equal(t, unknown, pred(&ctx, f.row()))
	}
	require.EqualValues(t, 6, ctx.TypeMismatch)
}
