/** What needs no quotation mark in a shell. */
const plain = /^[\w@%+=:,./-]+$/;

/** A command as a person would type it: what is one argument is seen to be one. */
export function commandText(argv: readonly string[]): string {
  return argv
    .map((each) => (plain.test(each) ? each : `'${each.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}

/** What is not seen, or turns the order of what is seen, is written out: a command must not look like another. */
export function visible(text: string): string {
  return text.replace(
    /[^\P{C}\n\t]|[\u115f\u1160\u2028\u2029\u2800\u3164\uffa0]|[\ufe00-\ufe0f]/gu,
    (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
