import { CodeReader } from '../../pgc/mine/code-reader.js';
import type { Found } from '../finding.js';
import { emptyHandlersIn, parsed, swallowedError } from '../impact/facts.js';
import type { Artifact } from '../shapes.js';
import { at, quoted, type Check } from './check.js';

interface LineRule {
  rule: string;
  aspect: 'completeness' | 'accuracy';
  severity: Found['severity'];
  pattern: RegExp;
  /** Paths that it applies to; absent: all. */
  paths?: RegExp;
  text: string;
  remedy: string;
}

const lineRules: readonly LineRule[] = [
  {
    ...{ rule: 'STUB', aspect: 'completeness', severity: 'major' },
    pattern:
      /\bthrow\s+(?:new\s+)?\w*(?:Error|Exception)\(\s*(["'`])(?:not (?:yet )?implemented|TODO|unimplemented)\b|\braise\s+NotImplementedError\b|(?<![\w.])(?:unimplemented|todo)!\(|\bpanic\(\s*"(?:not implemented|TODO|unimplemented)\b/i,
    text: 'This is not implemented yet',
    remedy: 'Implement it, or remove what leads here.',
  },
  {
    ...{ rule: 'TEST_FOCUSED', aspect: 'accuracy', severity: 'major' },
    pattern: /^\s*(?:describe|it|test|suite|context)\.only\s*[.(]|^\s*f(?:describe|it)\(/,
    ...{ paths: /(?:^|[/._-])(?:tests?|specs?|__tests__)(?:[/._-]|$)/i },
    text: 'Only this test of the file runs',
    remedy: 'Remove `.only`.',
  },
  {
    ...{ rule: 'DEBUGGER', aspect: 'completeness', severity: 'minor' },
    pattern: /^\s*debugger;?\s*$|^\s*(?:breakpoint\(\)|import pdb;? ?pdb\.set_trace\(\))\s*$/,
    text: 'The program stops here in a debugger',
    remedy: 'Remove it.',
  },
];

/** Faults that a single line of code shows, in any language, and errors that are dropped. */
export const code: Check = async ({ artifact, read }) => {
  if (!read.isCode) return [];
  const { lines } = read;
  const faults = lineRules.map((rule) => ({
    aspect: rule.aspect,
    ...{ what: 'lines of code', looked: 0 },
    faults: rule.paths?.test(artifact.path) === false ? [] : matching(lines, rule),
  }));
  return [
    ...faults,
    {
      ...{ aspect: 'accuracy', what: 'errors that are caught', looked: 0 },
      faults: await swallowed(artifact),
    },
  ];
};

function matching(
  lines: readonly string[],
  { rule, severity, pattern, text, remedy }: LineRule,
): Found[] {
  return lines.flatMap((line, index) =>
    line.length <= lineCharsMax && pattern.test(line) && !isComment(line)
      ? [
          {
            ...{ rule, severity, remedy, words: line },
            text: `${text}: ${quoted(line)}`,
            place: at(index + 1),
          },
        ]
      : [],
  );
}

/** Longer lines are generated. */
const lineCharsMax = 2_000;

function isComment(line: string): boolean {
  return /^\s*(?:\/\/|#|\*|\/\*|--)/.test(line);
}

/** Handlers of the syntax tree that catch an error and do nothing. */
async function swallowed({ path, text }: Artifact): Promise<Found[]> {
  await using reader = new CodeReader();
  const source = await parsed(reader, path, text);
  const handlers = source === undefined ? [] : emptyHandlersIn(source);
  return handlers.map(({ line, line_end }): Found => {
    const words = source?.lines[line - 1] ?? '';
    return {
      ...{ rule: 'ERROR_SWALLOWED', severity: 'minor', words, remedy: swallowedError.remedy },
      text: `At line ${line} ${swallowedError.cause}: ${quoted(words)}`,
      place: { line_start: line, line_end },
    };
  });
}
