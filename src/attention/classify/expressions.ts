/** Programs in arguments: those of sed, awk and jq that only compute and print. What is written otherwise is not judged. */

/** An address of sed: a line, the last one, a pattern; `3~2`, `$!`. */
const address = String.raw`(?:\d+(?:~\d+)?|\$|/(?:\\.|[^/\\\n])*/I?)`;
const range = String.raw`(?:${address}(?:\s*,\s*(?:${address}|\+\d+))?\s*!?\s*)?`;
const plainCommand = String.raw`(?:[pdqPDgGhHnNx=l]|q\d*|s(?<d>[/|#,:@!%_])(?:\\.|(?!\k<d>)[^\\\n])*\k<d>(?:\\.|(?!\k<d>)[^\\\n])*\k<d>[gpiIm0-9]*|y/(?:\\.|[^/\\\n])*/(?:\\.|[^/\\\n])*/)`;
const sedCommand = new RegExp(String.raw`^\s*${range}${plainCommand}\s*(?:;|\n|$)`);
const expressionChars = 10_000;

/** Why it is not harmless; undefined: it is. */
export function expressionRisk(program: string, source: string): string | undefined {
  if (source.length > expressionChars) return 'its expression is long';
  switch (program) {
    case 'sed':
    case 'gsed':
      return isPlainSed(source) ? undefined : 'this expression may write files or start programs';
    case 'awk':
    case 'gawk':
    case 'mawk':
    case 'nawk':
      return isPlainAwk(source)
        ? undefined
        : 'this program may write files, start programs or show variables';
    case 'jq':
      return /\$?\benv\b|\$ENV|\b(?:import|include|input_filename|modulemeta)\b/i.test(source)
        ? 'this filter may read variables or other files'
        : undefined;
    default:
      return undefined;
  }
}

/** Substitutions, prints and deletions only: no `e`, `w`, `r`, no text to add, no braces. */
function isPlainSed(source: string): boolean {
  let rest = source.replace(/^\s*#n?[^\n]*\n/, '');
  for (let commands = 0; commands < 100 && rest.trim() !== ''; commands += 1) {
    const found = sedCommand.exec(rest);
    if (found === null) return false;
    rest = rest.slice(found[0].length);
  }
  return rest.trim() === '';
}

function isPlainAwk(source: string): boolean {
  const plain = source.replaceAll('||', ' ');
  return !/system|getline|ARGV|ENVIRON|SYMTAB|FUNCTAB|PROCINFO|[|@]|print[^]*>|>>/.test(plain);
}
