import type { Change } from './change.js';
import type { Loss } from './loss.js';
import { borders } from './phrases.js';
import type { Call, Version } from './version.js';

/** O2 knows ways in and borders, too: neither is a weakness by itself. */
const severityOf: Readonly<Record<string, Loss['severity']>> = {
  ...{ critical: 'critical', high: 'major', medium: 'minor' },
};
const telling =
  /^(?:log|debug|trace|info|warn|error|fatal|print\w*|console\w*|pr_\w+|dev_\w+|emit)$/;
const secret =
  /(?:^|[^a-z])(?:pass(?:word|wd|phrase)|secret|credential|api_?key|private_?key|(?:auth|access|bearer)_?token)s?(?![a-z])/i;

/** What a change opens: weaknesses that rules of O2 name and the version before does not have, secrets that are told. */
export function exposedIn(change: Change): Loss[] {
  const { before, after } = change;
  const known = countsOf(before);
  const weak = after.facts.items.filter(({ overlay, rule, severity, subject, line_start }) => {
    if (overlay !== 2 || borders.has(rule) || severityOf[severity] === undefined) return false;
    const key = `${rule} ${subject}`;
    const left = (known.get(key) ?? 0) - (change.isAdded(line_start) ? 0 : 1);
    if (!change.isAdded(line_start)) known.set(key, left);
    return change.isAdded(line_start) && (known.get(key) ?? 0) <= 0;
  });
  return [
    ...weak.map(({ rule, severity, text, cwe, line_start, line_end }): Loss => ({
      ...{ kind: 'weakness-new', severity: severityOf[severity] ?? 'minor', unit: '' },
      ...{ line: line_start, line_end, places: [], words: `weakness ${rule} ${text}` },
      text: `This change adds what the version before does not have: ${text}${cwe === '' ? '' : ` (${cwe})`}.`,
      remedy: 'Use a call that cannot do this, or check what reaches it.',
    })),
    ...toldSecrets(change),
    ...environments(change),
  ];
}

function countsOf({ facts }: Version): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { overlay, rule, subject } of facts.items)
    if (overlay === 2)
      counts.set(`${rule} ${subject}`, (counts.get(`${rule} ${subject}`) ?? 0) + 1);
  return counts;
}

function addedCalls(change: Change): Call[] {
  const { units } = change.after;
  return units.flatMap(({ calls }) => calls.filter(({ line }) => change.isAdded(line)));
}

/** What is printed or logged by its name, outside of a string. */
function toldSecrets(change: Change): Loss[] {
  return addedCalls(change).flatMap(({ name, given, line }): Loss[] => {
    if (!telling.test(name)) return [];
    const what = given.find((each) => !/^['"`]/.test(each) && secret.test(each));
    if (what === undefined) return [];
    return [
      {
        ...{
          kind: 'secret-told',
          severity: 'critical',
          unit: '',
          line,
          line_end: line,
          places: [],
        },
        text: `\`${name}\` is given \`${what.slice(0, 60)}\`: by its name a secret, which stands in a log or an output from now on.`,
        remedy: 'Leave it out.',
        words: `secret told ${name} ${what}`,
      },
    ];
  });
}

/** `...process.env` in an environment that named what it gives. */
function environments(change: Change): Loss[] {
  const { before, after } = change;
  const whole = /\.\.\.process\.env\b/;
  if (whole.test(before.view.code)) return [];
  return after.view.lines.flatMap((text, index): Loss[] => {
    const line = index + 1;
    if (!change.isAdded(line) || !whole.test(text)) return [];
    return [
      {
        ...{
          kind: 'environment-given',
          severity: 'major',
          unit: '',
          line,
          line_end: line,
          places: [],
        },
        text: 'The whole environment of this process is handed on, with whatever keys stand in it; the version before names what it gives.',
        remedy: 'Name the variables that are needed.',
        words: 'environment given',
      },
    ];
  });
}
