#define FOO bar
