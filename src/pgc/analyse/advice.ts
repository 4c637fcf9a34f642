/** What to do about a weakness, by the rule of O2 that found it. Imperative, without a place. */
const byRule: Readonly<Record<string, string>> = {
  'unbounded-copy': 'copy with a bound (strscpy, snprintf) and handle what does not fit',
  'unbounded-format': 'print with the size of the buffer (snprintf, scnprintf)',
  'unterminated-copy': 'use a copy that always ends the text (strscpy)',
  'source-overread': 'use a copy that stops at the bound (strscpy)',
  'format-string': 'give a constant format and pass the text as an argument',
  'unchecked-number': 'parse with a function that reports overflow (kstrtoul, strtol)',
  'size-product': 'multiply with a check (array_size, kmalloc_array, calloc)',
  'stack-allocation': 'bound the size before it is taken off the stack, or use the heap',
  'user-memory-read':
    'check length and meaning of what comes from user memory, and read it once only',
  'user-memory-write': 'clear what is given to user memory, padding too, and bound its length',
  'identity-change': 'check that the change of rights is undone on every way out',
  'raw-hardware': 'check range and rights before memory or ports are mapped',
  'shell-command': 'start the program with a list of arguments, never through a shell',
  'shell-option': 'drop the shell option and pass a list of arguments',
  'program-start': 'take the program from a fixed list',
  'code-evaluation': 'replace the evaluation by a parser or a table',
  'script-evaluation': 'replace the evaluation by a parser or a table',
  'unsafe-deserialisation': 'read with a format that holds data only (JSON, a safe loader)',
  'sql-composed': 'use parameters of the query instead of parts of its text',
  'html-injection': 'set text, not markup, or escape it',
  'template-unescaped': 'let the template escape it',
  'xml-entities': 'turn external entities off',
  'pattern-from-data': 'escape the data before it becomes a pattern',
  'weak-hash': 'use SHA-256 or better',
  'weak-cipher': 'use AES-GCM or ChaCha20-Poly1305',
  'predictable-random': 'use the random source of the system where a guess would do harm',
  'certificate-unchecked': 'check the certificate',
  'temporary-name': 'let the system choose the name (mkstemp)',
  'open-mode': 'give the narrowest mode that works',
  'check-then-use': 'open first, then ask about what was opened',
  'archive-path': 'refuse paths that leave the folder',
  'unchecked-memory': 'state why it is safe, and check what it relies on',
  'unsafe-block': 'state why it is safe, and check what it relies on',
  secret: 'remove the secret from the source and replace it everywhere',
};

/** A rule that a repository added has no advice of ours: its own words are repeated. */
export function adviceFor(rule: string, text: string): string {
  return Object.hasOwn(byRule, rule) ? (byRule[rule] ?? text) : `review what it does: ${text}`;
}
