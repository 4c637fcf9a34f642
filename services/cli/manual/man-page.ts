import type { Described } from './described.js';

/** The page `sigma(1)`, in the form of `man`. */
export function manPage(commands: readonly Described[], version: string): string {
  const [sigma, ...others] = commands as [Described, ...Described[]];
  const common = commonIn(others);
  return [
    `.TH SIGMA 1 "" "Sigma Bus ${version}" "User Commands"`,
    '.SH NAME',
    `sigma \\- ${text(sigma.about.replace(/\.$/, ''))}`,
    '.SH SYNOPSIS',
    '.B sigma',
    '.I command',
    '[\\fIoptions\\fR]',
    '.SH DESCRIPTION',
    'Sigma Bus indexes a code base and answers questions about it, each statement with lines of code that can be checked.',
    'It needs no language model and no network. Begin with \\fBsigma up .\\fR in the folder of a project.',
    '.SH COMMANDS',
    ...others.flatMap((each) => section(each, common)),
    '.SH OPTIONS OF MOST COMMANDS',
    ...terms([...common.values()]),
    '.SH EXIT STATUS',
    ...terms([
      { term: '0', about: 'it worked' },
      { term: '1', about: 'the work failed' },
      { term: '2', about: 'the command, an option or a setting is wrong' },
      { term: '3', about: 'there is no broker, or no such agent' },
      { term: '130', about: 'it was interrupted' },
    ]),
    '.PP',
    'An error has a code; \\fBsigma error\\fR \\fICODE\\fR explains it.',
    '',
  ].join('\n');
}

interface Term {
  term: string;
  about: string;
}

/** What more than half of the commands take is said once. By its flags and what they are about. */
function commonIn(commands: readonly Described[]): Map<string, Term> {
  const all = commands.flatMap(({ options }) => options.map((each) => termOf(each)));
  const counts = new Map<string, { its: Term; count: number }>();
  for (const its of all) {
    const key = its.term + its.about;
    counts.set(key, { its, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return new Map(
    [...counts].flatMap(([key, { its, count }]) =>
      count > commands.length / 2 ? [[key, its] as const] : [],
    ),
  );
}

function termOf({ flags, about }: Described['options'][number]): Term {
  return { term: flags, about };
}

function section(
  { path, about, arguments: operands, options, commands }: Described,
  common: ReadonlyMap<string, Term>,
): string[] {
  const usage = [
    ...(commands.length > 0 ? ['\\fIcommand\\fR'] : []),
    ...operands.map(({ term }) => `\\fI${text(term)}\\fR`),
    '[\\fIoptions\\fR]',
  ];
  return [
    `.SS sigma ${text(path.join(' '))}`,
    `.B sigma ${text(path.join(' '))}`,
    usage.join(' '),
    '.PP',
    text(`${about.slice(0, 1).toUpperCase()}${about.slice(1)}.`),
    ...terms([
      ...operands.filter(({ about: its }) => its !== ''),
      ...options.map(termOf).filter((each) => !common.has(each.term + each.about)),
    ]),
  ];
}

function terms(all: readonly Term[]): string[] {
  return all.flatMap(({ term, about }) => ['.TP', `.B ${text(term)}`, text(about)]);
}

/** What `man` would take for a command of its own is escaped. */
function text(words: string): string {
  return words
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1');
}
