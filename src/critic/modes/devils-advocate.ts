import { cut } from '../finding.js';
import type { Component, Impact } from '../impact/impact.js';
import { bullets, listed, plural } from '../impact/phrases.js';
import { placed } from '../impact/quote.js';
import { statementsIn, type Statement } from '../impact/statements.js';
import type { SourceCode } from '../../pgc/mine/code-reader.js';
import type { Examined, Mode, ModeInput } from '../mode.js';
import type { Finding } from '../shapes.js';
import { examineImpact, type Shown } from './examine-impact.js';

const quotedChars = 180;

/** S-002: what it takes for granted, as far as facts speak against it. */
export const devilsAdvocate: Mode = {
  name: 'devils-advocate',
  text: 'critic-devils-advocate',
  sections: [
    'Challenged Assumptions',
    'Challenged Decisions',
    'Robustness Assessment',
    'Critical Vulnerabilities',
    'Recommended Actions',
  ],
  examine,
};

function examine(input: ModeInput): Promise<Examined> {
  const { artifact, signal } = input;
  return examineImpact('devils-advocate', input, async (impact) => {
    const statements = signal.aborted ? [] : await statementsIn(input, impact);
    const demands = statements.filter(({ kind }) => kind === 'demand');
    const code = impact.files.find(({ path }) => impact.isCode && path === artifact.path)?.code;
    return {
      found: code === undefined ? [] : nonNullIn(code),
      sections: (findings) => sectionsOf(impact, demands, findings),
      unable: [
        ...(demands.length === 0
          ? ['to challenge an assumption: the artifact states none in words that the rules know']
          : []),
        'to challenge decisions and to think of alternatives: a reader or a model has to',
      ],
    };
  });
}

const nonNullMin = 3;

/** `value!` in TypeScript: the compiler believes it, and nothing checks it. */
function nonNullIn({ path, parts }: SourceCode): Shown[] {
  const lines = [...new Set(parts.nonNull)];
  const [first] = lines;
  if (first === undefined || lines.length < nonNullMin) return [];
  const places = listed(
    lines.map((line) => `line ${line}`),
    6,
  );
  return [
    {
      ...{ rule: 'DA_NOT_NULL_ASSERTED', severity: 'note' },
      ...{ place: { line_start: first, line_end: first }, places: [{ path, line: first }] },
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
): Record<string, string> {
  const grave = findings.filter(({ severity }) => severity === 'critical' || severity === 'major');
  const shown = (each: Finding): string => `line ${each.line_start}: ${each.text}`;
  return {
    'Challenged Assumptions': bullets(
      [...demands.map(demanded), ...findings.map(shown)],
      'None that the rules or the syntax tree show.',
    ),
    'Challenged Decisions': 'None: which alternatives there were is not in the index.',
    'Robustness Assessment': bullets(components.map(robustness)),
    'Critical Vulnerabilities': bullets(
      grave.map(({ text }) => text),
      'None that the facts show.',
    ),
    'Recommended Actions': bullets(
      findings.map((each) => `line ${each.line_start}: ${each.remedy}`),
    ),
  };
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
  return `\`${name}\`, ${placed(path, line)}: ${tests}, ${plural(checks.length, 'check')} of its own${dropped}`;
}
