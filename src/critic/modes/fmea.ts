import { swallowedError } from '../impact/facts.js';
import { fileOf, type Component, type Impact } from '../impact/impact.js';
import { placed } from '../impact/quote.js';
import {
  detectionOf,
  occurrenceOf,
  ratingRules,
  rpnOf,
  severityOf,
  shown,
  type Rating,
} from '../impact/rating.js';
import {
  borders,
  bullets,
  errorList,
  placeWithin,
  plural,
  table,
  testsOf,
  usersOf,
} from '../impact/phrases.js';
import type { Examined, Mode, ModeInput } from '../mode.js';
import { examineImpact, type Shown } from './examine-impact.js';

const criticalRpn = 200;
const highSeverity = 8;

/** One way in which a component fails. */
interface Failure {
  /** What fails, in a clause. */
  failure: string;
  cause: string;
  line: number;
  line_end: number;
  /** What to do; empty: the facts name nothing. */
  remedy: string;
  /** The syntax tree shows that nothing is done about it. */
  isShown: boolean;
}

interface Row extends Failure {
  component: Component;
  s: Rating;
  o: Rating;
  d: Rating;
  rpn: number | null;
}

/** S-012: failure modes and effects of the code that an artifact is about, each figure made of facts. */
export const fmea: Mode = {
  name: 'fmea',
  text: 'critic-fmea',
  sections: [
    'Component Decomposition',
    'FMEA Table',
    'Critical Items',
    'High-Severity Items',
    'Recommended Actions',
    'Risk Summary',
  ],
  examine,
};

function examine(input: ModeInput): Promise<Examined> {
  return examineImpact('fmea', input, (impact) => {
    const rows = rowsOf(impact).sort((one, other) => weight(other) - weight(one));
    const reported = new Set<Component>();
    const found = rows.flatMap((row) => {
      // By figures alone only the worst row of a component is reported.
      if (!row.isShown && reported.has(row.component)) return [];
      const shown = shownOf(row, impact, input);
      if (shown.length > 0) reported.add(row.component);
      return shown;
    });
    return { found, unable: unableOf(rows), sections: () => sectionsOf(impact, rows) };
  });
}

function weight({ rpn, s, isShown }: Row): number {
  return (rpn ?? 0) + (s.value ?? 0) / 100 + (isShown ? 0.5 : 0);
}

function rowsOf(impact: Impact): Row[] {
  return impact.components.flatMap((component) => {
    const rate = (part: Failure): Row => {
      const s = severityOf(component);
      const o = occurrenceOf(component, fileOf(impact, component.path), part.isShown);
      const d = detectionOf(component, impact);
      return { component, ...part, s, o, d, rpn: rpnOf(s, o, d) };
    };
    return failuresOf(component).map(rate);
  });
}

/** Empty handlers first, then weaknesses, ignored results and errors that it gives; else it gives a wrong result. */
function failuresOf(component: Component): Failure[] {
  const { emptyHandlers, threats, errors, line, line_end, name, kind } = component;
  const swallowed = emptyHandlers.map((handler): Failure => ({
    failure: 'neither a caller nor a log learns of the error',
    ...{ line: handler.line, line_end: handler.line_end, isShown: true },
    ...swallowedError,
  }));
  const byType = new Map(
    threats.filter(({ type }) => !borders.has(type)).map((each) => [each.type, each]),
  );
  const weak = [...byType.values()].map((threat): Failure => ({
    failure: `a weakness is used: ${threat.description}`,
    cause: `${threat.type} ${threat.cwe}`.trim(),
    ...{ line: threat.line, line_end: threat.line, isShown: false },
    remedy: `Check what reaches \`${name}\` before the line, or use a call that cannot do this.`,
  }));
  const [error] = errors;
  const refused: Failure[] =
    error === undefined
      ? []
      : [
          {
            failure: `its caller gets ${errorList(errors, 4)}`,
            cause: 'a condition does not hold',
            ...{ line: error.line, line_end: error.line, isShown: false, remedy: '' },
          },
        ];
  const found = [...swallowed, ...weak, ...ignoredIn(component), ...refused];
  if (found.length > 0 || kind === 'file') return found;
  return [
    {
      ...{ failure: 'gives a wrong result', cause: 'a fault in its text', line, line_end },
      ...{ remedy: '', isShown: false },
    },
  ];
}

/** Callers that ignore what it returns, where it returns errors. */
function ignoredIn({ name, returnsErrors, ignoring, line }: Component): Failure[] {
  const [first] = ignoring;
  if (!returnsErrors || first === undefined) return [];
  return [
    {
      failure: 'its error is ignored and the caller goes on',
      cause: `${plural(ignoring.length, 'call')} of \`${name}\` ignore its result, first ${first.file_path}:${first.line}`,
      ...{ line, line_end: line, isShown: false },
      remedy: `Use what \`${name}\` returns there, or say why it does not matter.`,
    },
  ];
}

/** Only an error that the text shows to be dropped, or figures above the limits of the scale. */
function shownOf(row: Row, impact: Impact, { artifact }: ModeInput): Shown[] {
  const { component, rpn, s, o, d, isShown, line, line_end, failure, cause } = row;
  const isCritical = rpn !== null && rpn > criticalRpn;
  const isSevere = (s.value ?? 0) >= highSeverity;
  const isUnseen = (d.value ?? 0) >= 7;
  if (!isShown && !isCritical && !(isSevere && isUnseen)) return [];
  const { path, name, reach } = component;
  const figures = `S ${shown(s.value)} (${s.why}), O ${shown(o.value)} (${o.why}), D ${shown(d.value)} (${d.why})`;
  const call = reach?.callers[0]?.call_site ?? '';
  const [, callPath = '', callLine = ''] = /^(.+):(\d+)$/.exec(call) ?? [];
  const places = [
    { path, line, line_end, symbol: name },
    ...(callPath === '' ? [] : [{ path: callPath, line: Number(callLine) }]),
  ];
  const rule = isCritical ? 'FMEA_CRITICAL' : isShown ? 'FMEA_GAP' : 'FMEA_SEVERE';
  return [
    {
      rule,
      severity: isCritical && isShown ? 'major' : 'minor',
      text: `${isShown ? `\`${name}\`: ${cause} (${path}:${line}), so that ${failure}.` : `\`${name}\` (${path}:${line}) stands out by its figures.`} ${rpn === null ? 'No RPN' : `RPN ${rpn}`}: ${figures}.`,
      remedy: remedyOf(row),
      place: placeWithin(component, line, artifact, impact),
      words: `${component.id} ${isShown ? cause : 'figures'}`,
      places,
    },
  ];
}

function remedyOf({ remedy, component, d }: Row): string {
  if (remedy !== '') return remedy;
  const isUnseen = (d.value ?? 0) >= 7;
  if (isUnseen) return `Write a test that calls \`${component.name}\` and makes this happen.`;
  return `Review changes of \`${component.name}\` with a second person, and handle this failure in its users.`;
}

function sectionsOf(impact: Impact, rows: readonly Row[]): Record<string, string> {
  const critical = rows.filter(({ rpn }) => rpn !== null && rpn > criticalRpn);
  const severe = rows.filter(({ s }) => (s.value ?? 0) >= highSeverity);
  const line = (row: Row): string =>
    `${placed(row.component.path, row.line)} \`${row.component.name}\`: ${row.failure} (S ${shown(row.s.value)}, O ${shown(row.o.value)}, D ${shown(row.d.value)}, RPN ${shown(row.rpn)})`;
  const actions = [
    ...new Set(
      rows
        .filter((row) => row.isShown || critical.includes(row))
        .map((row) => `${placed(row.component.path, row.line)} ${remedyOf(row)}`),
    ),
  ];
  return {
    'Component Decomposition': decomposition(impact),
    'FMEA Table': rows.length === 0 ? 'None.' : `${tableOf(rows)}\n\n${bullets(ratingRules)}`,
    'Critical Items': bullets(critical.map(line), 'No row has an RPN above 200.'),
    'High-Severity Items': bullets(severe.map(line), 'No row has S of 8 or more.'),
    'Recommended Actions': bullets(actions, 'None follows from the facts.'),
    'Risk Summary': summary(rows, critical.length, severe.length),
  };
}

function decomposition({ components }: Impact): string {
  return table(
    ['component', 'where', 'paths', 'users', 'tests'],
    components.map(({ name, path, line, branches, reach }) => [
      `\`${name}\``,
      `${path}:${line}`,
      shown(branches ?? null),
      reach === undefined ? '-' : usersOf(reach),
      reach === undefined ? '-' : testsOf(reach),
    ]),
  );
}

function tableOf(rows: readonly Row[]): string {
  return table(
    ['component', 'failure', 'cause', 'S', 'O', 'D', 'RPN', 'why'],
    rows.map(({ component, failure, cause, line, s, o, d, rpn }) => [
      `\`${component.name}\``,
      failure,
      `${cause} (line ${line})`,
      ...[s.value, o.value, d.value, rpn].map(shown),
      `S: ${s.why}; O: ${o.why}; D: ${d.why}`,
    ]),
  );
}

function summary(rows: readonly Row[], critical: number, severe: number): string {
  const rpns = rows.flatMap(({ rpn }) => rpn ?? []);
  const within = (from: number, to: number): number =>
    rpns.filter((rpn) => rpn >= from && rpn <= to).length;
  const open = rows.length - rpns.length;
  return `${plural(rows.length, 'failure mode')}: ${critical} critical, ${within(100, criticalRpn)} high, ${within(50, 99)} medium, ${within(0, 49)} low, ${open} without an RPN; ${severe} with S of 8 or more, ${rows.filter(({ isShown }) => isShown).length} that drop an error in their text.`;
}

function unableOf(rows: readonly Row[]): string[] {
  const open = rows.filter(({ rpn }) => rpn === null).length;
  return [
    ...(open > 0
      ? [`to give ${open} of ${rows.length} failure modes an RPN: a figure of each is not known`]
      : []),
    'to find failures of a design that no line of code shows: a reader or a model has to',
  ];
}
