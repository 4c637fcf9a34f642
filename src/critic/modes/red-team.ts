import type { Threat } from '../../pgc/analyse/security-blast-radius.js';
import { adviceFor } from '../../pgc/analyse/advice.js';
import type { FileKnowledge, Impact } from '../impact/impact.js';
import { placed } from '../impact/quote.js';
import {
  bullets,
  errorList,
  gravityOf,
  listed,
  placeIn,
  plural,
  table,
} from '../impact/phrases.js';
import type { Examined, Mode, ModeInput } from '../mode.js';
import { severities, type Finding } from '../shapes.js';
import { examineImpact, type Shown } from './examine-impact.js';

/** Weaknesses of one rule in one file. */
interface Vulnerability {
  file: FileKnowledge;
  rule: string;
  threats: Threat[];
  severity: Finding['severity'];
}

/** S-001: how it could be attacked, only with evidence. */
export const redTeam: Mode = {
  name: 'red-team',
  text: 'critic-red-team',
  sections: [
    'Attack Surface Analysis',
    'Vulnerability Report',
    'Critical Vulnerabilities',
    'Defense Recommendations',
    'Residual Risk Assessment',
  ],
  examine,
};

function examine(input: ModeInput): Promise<Examined> {
  return examineImpact('red-team', input, (impact) => {
    const found = vulnerabilities(impact);
    return {
      // A trust boundary is listed in its section, and is no fault.
      found: found
        .filter(({ severity }) => severity !== 'note')
        .flatMap((each) => shownOf(each, impact, input)),
      unable: [
        'to find weaknesses that no security rule names, and to try an attack: a reader or a model has to',
      ],
      sections: () => sectionsOf(impact, found),
    };
  });
}

function vulnerabilities({ files }: Impact): Vulnerability[] {
  const found = files.flatMap((file) => {
    const byRule = new Map<string, Threat[]>();
    for (const each of file.threats)
      byRule.set(each.type, [...(byRule.get(each.type) ?? []), each]);
    return [...byRule].map(([rule, threats]): Vulnerability => {
      const ranks = threats.map((each) => severities.indexOf(gravityOf(each, file)));
      return { file, rule, threats, severity: severities[Math.min(...ranks)] ?? 'note' };
    });
  });
  return found.sort(
    (one, other) => severities.indexOf(one.severity) - severities.indexOf(other.severity),
  );
}

function shownOf(
  { file, rule, threats, severity }: Vulnerability,
  impact: Impact,
  { artifact }: ModeInput,
): Shown[] {
  const [first] = threats;
  if (first === undefined) return [];
  const lines = threats.map(({ line }) => line);
  const [way] = file.exposures;
  const reached =
    way === undefined
      ? 'No entry point that leads here was found.'
      : `An entry point leads here: ${way.surface} (${way.place}).`;
  const { defences } = file;
  const guarded =
    defences.length === 0
      ? ''
      : ` The file checks a permission or guards at ${listed(
          defences.map(({ line }) => `line ${line}`),
          3,
        )}: read whether that comes before it.`;
  return [
    {
      ...{ rule: `RT_${rule.toUpperCase().replaceAll('-', '_')}`, severity, isQuotedOnly: true },
      text: `${first.description} (${first.cwe}), ${file.path} ${threats.length === 1 ? 'line' : 'lines'} ${listed(lines.map(String), 6)}. ${reached}${guarded}`,
      remedy: adviceFor(rule, first.description),
      place: placeIn(file.path, first.line, artifact, impact),
      words: `${file.path} ${rule}`,
      places: threats.map(({ line, symbol }) => ({ path: file.path, line, symbol })),
    },
  ];
}

function sectionsOf(impact: Impact, found: readonly Vulnerability[]): Record<string, string> {
  const line = ({ file, rule, threats, severity }: Vulnerability): string =>
    `**${severity}** ${rule} (${threats[0]?.cwe ?? ''}): ${threats[0]?.description ?? ''}, ${listed(
      threats.map((each) => placed(file.path, each.line)),
      4,
    )}`;
  const critical = found.filter(({ severity }) => severity === 'critical');
  const advice = [
    ...new Set(found.map(({ rule, threats }) => adviceFor(rule, threats[0]?.description ?? ''))),
  ];
  return {
    'Attack Surface Analysis': surfaceOf(impact),
    'Vulnerability Report': bullets(
      found.map(line),
      'No security rule found a weakness in this code.',
    ),
    'Critical Vulnerabilities': bullets(critical.map(line)),
    'Defense Recommendations': `There already:\n${bullets(defences(impact), 'No check of a permission, bound, assertion or error was found.')}\n\nTo do:\n${bullets(advice)}`,
    'Residual Risk Assessment': residual(impact, found),
  };
}

function surfaceOf({ files }: Impact): string {
  const rows = files.flatMap(({ path, surfaces, exposures }) => [
    ...surfaces.map(({ rule, line, text }) => [rule, text, `${path}:${line}`]),
    ...exposures
      .filter(({ depth }) => depth > 0)
      .slice(0, 5)
      .map(({ surface, place, depth }) => [
        'reaches it',
        `${surface}, ${plural(depth, 'step')} away`,
        place,
      ]),
  ]);
  return rows.length === 0
    ? 'No entry point was found in this code.'
    : table(['kind', 'what', 'where'], rows);
}

function defences({ files }: Impact): string[] {
  const most = 12;
  const all = files.flatMap(({ defences: known, checks }) => [
    ...known.map(({ rule, text, path, line }) => `${rule}: ${text}, ${placed(path, line)}`),
    ...checks
      .filter(({ rule }) => ['assertion', 'bound', 'locking-check'].includes(rule))
      .map(({ rule, text, path, line }) => `${rule}: ${text}, ${placed(path, line)}`),
  ]);
  const refused = files.flatMap(({ path, code }) =>
    code === undefined || code.parts.errors.length === 0
      ? []
      : `${path} refuses with ${errorList(code.parts.errors, 8)}`,
  );
  const shown = all.length > most ? [...all.slice(0, most), `${all.length - most} more`] : all;
  return [...shown, ...refused];
}

function residual({ files }: Impact, found: readonly Vulnerability[]): string {
  if (files.length === 0) return 'Not known: there is no code to look at.';
  return bullets(
    files.map(({ path, isExposed, isWide, exposures }) => {
      const own = found.filter(({ file }) => file.path === path);
      const worst = own[0]?.severity ?? 'none';
      return `${path}: worst weakness ${worst}, ${isExposed ? `reached from ${plural(exposures.length, 'entry point')}` : 'no known entry point'}, ${isWide ? 'widely used' : 'few users'}.`;
    }),
  );
}
