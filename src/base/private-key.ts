/** Signs of code and of comments between two lines of a key: `\n" +`, ` * `, `# `. */
const between = '(?:\\s|\\\\[nrt]|["\'`+,#*>|]){1,40}';
const header = `${between}[A-Z][\\w-]{1,30}: [\\w,.-]{1,100}`;
const begin = `-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:${header}){0,4}`;
/** As files and code have it: its first line is longer than any word. Without an end it is as long as its letters are. */
const privateKey = new RegExp(
  `(${begin})(${between}[A-Za-z0-9+/]{40,}={0,2}(?:${between}[A-Za-z0-9+/]+={0,2})*)`,
  'g',
);
/** What stands in a key. The letter behind a backslash is none of it. */
const letters = /(\\[nrt])|[A-Za-z0-9+/]{2,}={0,2}/g;

/** A text without the private keys that it shows, over all their lines, which stay where they are. */
export function withoutPrivateKeys(text: string, instead: string): string {
  if (!text.includes('PRIVATE KEY')) return text;
  return text.replace(
    privateKey,
    (_, head: string, key: string) =>
      head + key.replace(letters, (_all, escape: string | undefined) => escape ?? instead),
  );
}
