import { cut, findingOf } from '../finding.js';
import { changeFindings } from '../impact/change-findings.js';
import { emptyHandlersIn } from '../impact/facts.js';
import { impactOf } from '../impact/gather.js';
import type { Component, Impact } from '../impact/impact.js';
import { bullets, listed, plural, withoutSubject } from '../impact/phrases.js';
import { placed, Quotes } from '../impact/quote.js';
import { statementsIn, type Statement } from '../impact/statements.js';
import type { SourceCode } from '../../pgc/mine/code-reader.js';
import type { Examined, Mode, ModeInput } from '../mode.js';
import type { Finding, Severity } from '../shapes.js';

const quotedChars = 180;

/** A place in code that takes something for granted. */
interface Challenge {
  rule: string;
  severity: Severity;
  line_start: number;
  line_end: number;
  /** By which it is known in another version. */
  words: string;
  text: string;
  remedy: string;
}

/** S-002: what it takes for granted, as far as facts speak against it. */
export const devilsAdvocate: Mode = {
  name: 'devils-advocate',
  description: 'what code takes for granted, and who has to keep what it demands',
  text: 'critic-devils-advocate',
  criteria: [
    { name: 'Challenge Depth', weight: 0.3 },
    { name: 'Alternative Generation', weight: 0.25 },
    { name: 'Specificity', weight: 0.25 },
    { name: 'Fairness', weight: 0.2 },
  ],
  sections: [
    { title: 'Challenged Assumptions', isRequired: true },
    { title: 'Challenged Decisions', isRequired: true },
    { title: 'Robustness Assessment', isRequired: true },
    { title: 'Critical Vulnerabilities', isRequired: true },
    { title: 'Recommended Actions', isRequired: true },
  ],
  examine,
};

async function examine(input: ModeInput): Promise<Examined> {
  const { artifact } = input;
  const impact = await impactOf(input);
  const statements = input.signal.aborted ? [] : await statementsIn(input, impact);
  const demands = statements.filter(({ kind }) => kind === 'demand');
  const code = impact.files.find(({ path }) => impact.isCode && path === artifact.path)?.code;
  const challenges = code === undefined ? [] : [...swallowedIn(code), ...nonNullIn(code)];
  const findings: Finding[] = [];
  const unable = unableOf(impact, demands);
  const examined = (): Examined => ({
    sections: sectionsOf(impact, demands, findings),
    ...{ findings, score: null, unable, abort: '', dropped: 0 },
  });
  findings.push(...(await changeFindings('devils-advocate', input)));
  const quotes = new Quotes(input.ground, artifact);
  for (const { rule, severity, text, remedy, words, ...place } of challenges) {
    if (input.signal.aborted) break;
    const at = [{ path: artifact.path, line: place.line_start, line_end: place.line_end }];
    findings.push(
      findingOf('devils-advocate', {
        ...{ rule, severity, text, remedy, words, place },
        evidence: await quotes.all(at),
      }),
    );
    input.partial(examined());
  }
  return examined();
}

function swallowedIn(code: SourceCode): Challenge[] {
  return emptyHandlersIn(code).map(({ line, line_end }) => ({
    ...{ rule: 'DA_ERROR_SWALLOWED', severity: 'minor', line_start: line, line_end },
    words: `ERROR_SWALLOWED ${(code.lines[line - 1] ?? '').trim()}`,
    text: `At line ${line} an error is caught and nothing is done: neither a caller nor a log learns of it.`,
    remedy: 'Pass the error on or log it; where nothing has to be done, say why in a comment.',
  }));
}

const nonNullMin = 3;

/** `value!` in TypeScript: the compiler believes it, and nothing checks it. */
function nonNullIn({ parts }: SourceCode): Challenge[] {
  const lines = [...new Set(parts.nonNull)];
  const [first] = lines;
  if (first === undefined || lines.length < nonNullMin) return [];
  const places = listed(
    lines.map((line) => `line ${line}`),
    6,
  );
  return [
    {
      ...{ rule: 'DA_NOT_NULL_ASSERTED', severity: 'note', line_start: first, line_end: first },
      words: `not null asserted ${lines.length}`,
      text: `Assures the compiler in ${lines.length} lines that a value is there, and checks it in none of them: ${places}.`,
      remedy: 'Check the value and say what happens when it is absent.',
    },
  ];
}

function sectionsOf(
  { components }: Impact,
  demands: readonly Statement[],
  findings: readonly Finding[],
): Examined['sections'] {
  const grave = findings.filter(({ severity }) => severity === 'critical' || severity === 'major');
  const shown = (each: Finding): string => `line ${each.line_start}: ${each.text}`;
  return [
    {
      title: 'Challenged Assumptions',
      text: bullets(
        [...demands.map(demanded), ...findings.map(shown)],
        'None that O6 or the syntax tree shows.',
      ),
    },
    {
      title: 'Challenged Decisions',
      text: 'None: which alternatives there were is not in the index.',
    },
    { title: 'Robustness Assessment', text: bullets(components.map(robustness)) },
    {
      title: 'Critical Vulnerabilities',
      text: bullets(
        grave.map(({ text }) => text),
        'None that the facts show.',
      ),
    },
    {
      title: 'Recommended Actions',
      text: bullets(findings.map((each) => `line ${each.line_start}: ${each.remedy}`)),
    },
  ];
}

/** A demand with those who have to keep it. */
function demanded({ line_start, text, about }: Statement): string {
  const who = about.map(({ name, reach }) => {
    const users = reach === undefined ? 'unknown users' : plural(reach.direct, 'direct user');
    return `\`${name}\`: ${users}`;
  });
  return `line ${line_start}: "${cut(text, quotedChars)}"${who.length === 0 ? '' : ` (${listed(who, 3)})`}`;
}

function robustness({ name, path, line, checks, reach, emptyHandlers }: Component): string {
  const tests = reach === undefined ? 'tests unknown' : plural(reach.tests.length, 'test');
  const dropped =
    emptyHandlers.length === 0 ? '' : `, ${plural(emptyHandlers.length, 'empty handler')}`;
  return `\`${name}\`, ${placed(path, line)}: ${tests}, ${plural(checks.length, 'item')} of O6${dropped}`;
}

function unableOf(impact: Impact, demands: readonly Statement[]): string[] {
  return [
    ...impact.unable,
    ...withoutSubject(impact),
    ...(demands.length === 0
      ? ['to challenge an assumption: the artifact states none that O6 knows']
      : []),
    'to challenge decisions and to think of alternatives: a reader or a model has to',
  ];
}
