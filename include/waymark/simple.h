/*
 * Simple markers: a trace point that adds no instruction.
 *
 *	WAYMARK_SIMPLE("scsi:queuecommand", "Command being queued %p Done function %p", cmd, done);
 *
 * The macro leaves a record in a section that is never loaded: five strings, each with its
 * NUL, in this order: name, file, line, description, variables. A second such section says at
 * which address each copy of the marker is: line tables do not, where it is inlined or unrolled.
 * Tools find the variables by their names in the debugging information (-g). So mark with
 * variables and members, not with what only the compiler can compute.
 *
 * The compiler checks the description as printf's format, and that the variables exist, also
 * in builds without debugging information; it evaluates none of them. name and description are
 * string literals.
 *
 * The record begins where the marker stands, and no code is moved across that place: a
 * variable that is changed before the marker has its new value there. This is what a barrier
 * of the compiler costs and no more; -DWAYMARK_NO_SIMPLE takes that away too, with the records.
 *
 * For gcc 8 and clang 12, and later, as C99 and C++11 with variadic macros of GNU.
 */
#ifndef WAYMARK_SIMPLE_H
#define WAYMARK_SIMPLE_H

/* Three numbers, each as long as an address: where the marker stands, where in its section its
 * record is, and how many bytes of code it has. Linkers take sections with names like this one for
 * debugging information, and strip -g removes them. */
#define WAYMARK_SIMPLE_PLACES ".debug_simple_marker.1"
#if __SIZEOF_POINTER__ == 8
#define WAYMARK_SIMPLE_ADDRESS_ ".8byte "
#else
#define WAYMARK_SIMPLE_ADDRESS_ ".4byte "
#endif

/* The version of the record is part of the section's name: tools read each that they know,
 * and a file can have several. */
#define WAYMARK_SIMPLE_SECTION "__simple_marker.1"

#ifdef __cplusplus
extern "C" {
#endif
static inline void waymark_simple_check_(const char *, ...) __attribute__((format(printf, 1, 2), unused));
static inline void waymark_simple_check_(const char *format, ...) { (void)format; }
#ifdef __cplusplus
}
#endif

#define WAYMARK_SIMPLE_TEXT_(...) #__VA_ARGS__
#define WAYMARK_SIMPLE_TEXT(...) WAYMARK_SIMPLE_TEXT_(__VA_ARGS__)

#ifdef WAYMARK_NO_SIMPLE
#define WAYMARK_SIMPLE_RECORD_(name, format, variables) ((void)0)
#define WAYMARK_SIMPLE_ANCHOR_(name, format, variables) ((void)0)
#else
/* Each string goes to the assembler as it stands in the source, with its quotes: escapes are
 * the same there, and adjacent literals are joined (GNU as 2.23, clang 12). The section has
 * no flags, so no "a" for allocated; "?" is the group of the function, which is dropped where
 * another object has the same function. The variables are a literal of a literal, lest a quote
 * among them end it.
 *
 * asm without operands is what leaves a % alone; inline says that it is no code, or gcc would
 * count its lines as instructions when it decides what to inline (gcc 9). */
#if defined(__clang__) || __GNUC__ < 9
#define WAYMARK_SIMPLE_ASM_ __asm__ __volatile__
#else
#define WAYMARK_SIMPLE_ASM_ __asm__ __volatile__ __inline__
#endif
#define WAYMARK_SIMPLE_RECORD_(name, format, variables)                      \
	WAYMARK_SIMPLE_ASM_(WAYMARK_SIMPLE_STRINGS_(name, format, variables, "0"))
#define WAYMARK_SIMPLE_ANCHOR_(name, format, variables)                      \
	WAYMARK_SIMPLE_ASM_(WAYMARK_SIMPLE_STRINGS_(name, format, variables, "1") "nop\n")
#define WAYMARK_SIMPLE_STRINGS_(name, format, variables, size)               \
		"661:\n"                                                     \
		".pushsection " WAYMARK_SIMPLE_SECTION ",\"\"\n662:\n"       \
		".ascii " WAYMARK_SIMPLE_TEXT(name) "\n.byte 0\n"            \
		".ascii " WAYMARK_SIMPLE_TEXT(__FILE__) "\n.byte 0\n"        \
		".ascii \"" WAYMARK_SIMPLE_TEXT(__LINE__) "\"\n.byte 0\n"    \
		".ascii " WAYMARK_SIMPLE_TEXT(format) "\n.byte 0\n"          \
		".ascii " WAYMARK_SIMPLE_TEXT(variables) "\n.byte 0\n"       \
		".popsection\n"                                              \
		".pushsection " WAYMARK_SIMPLE_PLACES ",\"?\"\n"             \
		WAYMARK_SIMPLE_ADDRESS_ "661b, 662b, " size "\n"             \
		".popsection\n"
#endif

#define WAYMARK_SIMPLE(name, format, ...)                                    \
	do {                                                                 \
		WAYMARK_SIMPLE_RECORD_(name, format, #__VA_ARGS__);          \
		if (0)                                                       \
			waymark_simple_check_("" format, ##__VA_ARGS__);     \
	} while (0)

/* The same with a nop of one byte, for places where a marker without an instruction has none of
 * its own: at the end of a conditional block the next instruction is executed without it, too.
 * waymark list -v says where this is so. */
#define WAYMARK_SIMPLE_ANCHORED(name, format, ...)                           \
	do {                                                                 \
		WAYMARK_SIMPLE_ANCHOR_(name, format, #__VA_ARGS__);          \
		if (0)                                                       \
			waymark_simple_check_("" format, ##__VA_ARGS__);     \
	} while (0)

#endif
