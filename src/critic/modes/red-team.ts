import type { Threat } from '../../pgc/analyse/security-blast-radius.js';
import { adviceFor } from '../../pgc/analyse/advice.js';
import { findingOf } from '../finding.js';
import { changeFindings } from '../impact/change-findings.js';
import type { EffectKind } from '../impact/effects.js';
import { impactOf } from '../impact/gather.js';
import type { FileFacts, Impact } from '../impact/impact.js';
import { placed, Quotes } from '../impact/quote.js';
import { toldRefusals } from '../impact/refusals.js';
import { listed } from '../impact/subject.js';
import { bullets, gravityOf, placeIn, plural, table, withoutSubject } from '../impact/phrases.js';
import type { Examined, Mode, ModeInput } from '../mode.js';
import { severities, type Finding } from '../shapes.js';

/** What somebody else's data come in by, and what they may set going. */
const inputs: ReadonlySet<EffectKind> = new Set([
  ...(['network', 'process', 'file', 'user-memory', 'parse', 'environment', 'arguments'] as const),
]);

/** Weaknesses of one rule in one file: one fault to think about, at several places. */
interface Vulnerability {
  file: FileFacts;
  rule: string;
  threats: Threat[];
  severity: Finding['severity'];
}

/** S-001: how it could be attacked, only with evidence. */
export const redTeam: Mode = {
  name: 'red-team',
  description: 'ways in, weaknesses behind them and what already defends, each quoted',
  text: 'critic-red-team',
  criteria: [
    { name: 'Attack Surface Coverage', weight: 0.3 },
    { name: 'Vulnerability Realism', weight: 0.25 },
    { name: 'Impact Assessment', weight: 0.25 },
    { name: 'Defensive Measure Quality', weight: 0.2 },
  ],
  sections: [
    { title: 'Attack Surface Analysis', isRequired: true },
    { title: 'Vulnerability Report', isRequired: true },
    { title: 'Critical Vulnerabilities', isRequired: true },
    { title: 'Defense Recommendations', isRequired: true },
    { title: 'Residual Risk Assessment', isRequired: true },
  ],
  examine,
};

async function examine(input: ModeInput): Promise<Examined> {
  const impact = await impactOf(input);
  const found = vulnerabilities(impact);
  const silent = impact.isCode
    ? []
    : impact.files.filter((file) => isUnsaid(file, input.artifact.text));
  const findings: Finding[] = [];
  const unable = unableOf(impact);
  const examined = (): Examined => ({
    sections: sectionsOf(impact, found),
    ...{ findings, score: null, unable, abort: '', dropped: 0 },
  });
  findings.push(...(await changeFindings('red-team', input)));
  const quotes = new Quotes(input.ground, input.artifact);
  for (const each of found) {
    if (input.signal.aborted) break;
    const finding = await findingFor(each, impact, input, quotes);
    if (finding !== undefined) findings.push(finding);
    input.partial(examined());
  }
  for (const file of silent) {
    if (input.signal.aborted) break;
    findings.push(await unsaidFinding(file, impact, input, quotes));
  }
  return examined();
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

async function findingFor(
  { file, rule, threats, severity }: Vulnerability,
  impact: Impact,
  input: ModeInput,
  quotes: Quotes,
): Promise<Finding | undefined> {
  const [first] = threats;
  if (first === undefined) return undefined;
  const lines = threats.map(({ line }) => line);
  const evidence = await quotes.all(
    threats.map(({ line, symbol }) => ({ path: file.path, line, symbol })),
  );
  // What cannot be quoted is not told; a border is listed in its section, and is no fault.
  if (evidence.length === 0 || severity === 'note') return undefined;
  const [way] = file.exposures;
  const reached =
    way === undefined
      ? 'No way into this file from outside was found.'
      : `A way into this file from outside: ${way.surface} (${way.place}).`;
  const { defences } = file;
  const guarded =
    defences.length === 0
      ? ''
      : ` The file asks for a right or guards at ${listed(
          defences.map(({ line }) => `line ${line}`),
          3,
        )}: whether that stands before it has to be read.`;
  return findingOf('red-team', {
    ...{ rule: `RT_${rule.toUpperCase().replaceAll('-', '_')}`, severity, evidence },
    text: `${first.description} (${first.cwe}), ${file.path} ${threats.length === 1 ? 'line' : 'lines'} ${listed(lines.map(String), 6)}. ${reached}${guarded}`,
    remedy: adviceFor(rule, first.description),
    place: placeIn(file.path, first.line, input.artifact, impact),
    words: `${file.path} ${rule}`,
  });
}

const spoken =
  /\b(?:untrusted|hostile|attack\w*|security|trust(?:ed)?|malicious|privileg\w*|permission\w*|authenti\w*|authoris\w*|authoriz\w*|validat\w*|sanitis\w*|sanitiz\w*|escap\w*|injection|capabilit\w*|CAP_\w+|refused|confine\w*|sandbox\w*)\b/i;

/** Weak and open, and the document has no word on who may send what. */
function isUnsaid({ threats, exposures }: FileFacts, text: string): boolean {
  return threats.length > 0 && exposures.length > 0 && !spoken.test(text);
}

async function unsaidFinding(
  file: FileFacts,
  impact: Impact,
  input: ModeInput,
  quotes: Quotes,
): Promise<Finding> {
  const [threat] = file.threats;
  const [way] = file.exposures;
  return findingOf('red-team', {
    ...{ rule: 'RT_TRUST_NOT_STATED', severity: 'minor' },
    text: `The document names ${file.path}, which is reached from outside (${way?.surface ?? ''}, ${way?.place ?? ''}) and ${threat?.description ?? ''} at line ${threat?.line ?? 0}; it has no word on whose data these are and what is checked.`,
    remedy: 'Say who may send what, what is checked, and where.',
    place: placeIn(file.path, threat?.line ?? 1, input.artifact, impact),
    words: `trust ${file.path}`,
    evidence: await quotes.all([{ path: file.path, line: threat?.line ?? 1 }]),
  });
}

function sectionsOf(impact: Impact, found: readonly Vulnerability[]): Examined['sections'] {
  const told = ({ file, rule, threats, severity }: Vulnerability): string =>
    `**${severity}** ${rule} (${threats[0]?.cwe ?? ''}): ${threats[0]?.description ?? ''}, ${listed(
      threats.map(({ line }) => placed(file.path, line)),
      4,
    )}`;
  const critical = found.filter(({ severity }) => severity === 'critical');
  const advice = [
    ...new Set(found.map(({ rule, threats }) => adviceFor(rule, threats[0]?.description ?? ''))),
  ];
  return [
    { title: 'Attack Surface Analysis', text: surfaceOf(impact) },
    {
      title: 'Vulnerability Report',
      text: bullets(found.map(told), 'No rule of O2 found a weakness in this code.'),
    },
    { title: 'Critical Vulnerabilities', text: bullets(critical.map(told)) },
    {
      title: 'Defense Recommendations',
      text: `There already:\n${bullets(defences(impact), '- No check of a right, bound, assertion or refusal was found.')}\n\nTo do:\n${bullets(advice)}`,
    },
    { title: 'Residual Risk Assessment', text: residual(impact, found) },
  ];
}

function surfaceOf({ files }: Impact): string {
  const rows = files.flatMap(({ path, surfaces, exposures, effects }) => [
    ...surfaces.map(({ rule, line, text }) => [rule, text, `${path}:${line}`]),
    ...exposures
      .filter(({ depth }) => depth > 0)
      .slice(0, 5)
      .map(({ surface, place, depth }) => [
        'reaches it',
        `${surface}, ${plural(depth, 'step')} away`,
        place,
      ]),
    ...[
      ...new Map(
        effects
          .filter(({ kind }) => inputs.has(kind))
          .map((each) => [`${each.kind} ${each.call}`, each]),
      ).values(),
    ].map(({ kind, call, line }) => [kind, `\`${call}\``, `${path}:${line}`]),
  ]);
  return rows.length === 0
    ? 'No way in was found in this code.'
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
  const refused = files.flatMap(({ path, refusals }) =>
    refusals.length === 0 ? [] : `${path} refuses with ${toldRefusals(refusals, 8)}`,
  );
  const shown = all.length > most ? [...all.slice(0, most), `${all.length - most} more`] : all;
  return [...shown, ...refused];
}

function residual({ files }: Impact, found: readonly Vulnerability[]): string {
  if (files.length === 0) return 'Not known: there is no code to look at.';
  return bullets(
    files.map(({ path, isExposed, isWide, exposures }) => {
      const its = found.filter(({ file }) => file.path === path);
      const worst = its[0]?.severity ?? 'none';
      return `${path}: worst weakness ${worst}, ${isExposed ? `reached from outside by ${plural(exposures.length, 'way')}` : 'no way in known'}, ${isWide ? 'widely used' : 'few users'}.`;
    }),
  );
}

function unableOf(impact: Impact): string[] {
  return [
    ...impact.unable,
    ...withoutSubject(impact),
    'to find weaknesses that no rule of O2 names, and to try an attack: that needs a reader or a model',
  ];
}
