import type { Reading, Word } from '../policy/command-pattern.js';
import type { Harmless } from '../policy/rulebook.js';
import type { Examination, Site } from './examination.js';
import { expressionRisk } from './expressions.js';
import { requestEffects } from './requests.js';
import { hasExpressionOption } from './secrets.js';

/** Names of resources: no options, no addresses of other services. */
const name = /^(?!.*:\/\/|\.\.?\/)[\w@.%/][\w./@:~^{}=,*%+?&-]*$/;
/** What git calls a commit or a remote, and no address. */
const ref = /^[\w@][\w./@~^{}*-]*$/;
const mode = /^(?:[ugoa]*[-+=][rwxX]+(?:,[ugoa]*[-+=][rwxX]+)*|[0-7]{3,4})$/;

/** Why the operands of a command of the table of harmless ones are not harmless; undefined: they are. */
export function operandRisk(
  words: readonly Word[],
  given: Reading,
  { row, reading }: Harmless,
  exam: Examination,
  site: Site,
): string | undefined {
  const { operands, options } = reading;
  const program = given.operands[0]?.text ?? '';
  if (row.operands === 'text') return undefined;
  if (row.operands === 'format') {
    // A shell may compute an operand: of %n, of an index, of a number.
    const isComputed = operands.some(({ text }) => /%[-+ #0-9.*']*n|\[[^\]]*(?:\$\(|`)/.test(text));
    const isHidden = program === 'printf' && operands[0]?.isStatic === false;
    return isComputed || isHidden ? 'a shell may run what stands in it' : undefined;
  }
  const hidden = operands.find(({ isStatic, listed }) => !isStatic && listed === undefined);
  if (hidden !== undefined) return `${hidden.text} is known only when it runs`;
  const [first] = operands;
  const filters =
    program === 'gh' ? [...(options.get('-q') ?? []), ...(options.get('--jq') ?? [])] : [];
  const filterRisk = firstRisk(filters, 'jq');
  if (filterRisk !== undefined) return filterRisk;
  switch (row.operands) {
    case 'names':
      return refused(operands, name, 'is no plain name');
    case 'refs':
      return refused(operands, ref, 'is no plain name');
    case 'date':
      return refused(operands, /^\+/, 'sets the clock');
    case 'mode':
      return first === undefined ? undefined : refused([first], mode, 'is no plain mode');
    case 'none':
      return operands.length > 0 ? 'its arguments' : undefined;
    case 'url':
      return requestEffects(words, given, exam, site);
    case 'expression': {
      const values = ['-e', '--expression'].flatMap((each) => options.get(each) ?? []);
      const isNamed = hasExpressionOption(options);
      const sources = isNamed ? values : first === undefined ? [] : [first];
      return firstRisk(sources, program);
    }
    case 'paths':
    case 'words':
    case 'git':
      return undefined;
    default:
      return refused(operands, new RegExp(row.operands.slice(1, -1)), 'is no plain name');
  }
}

function firstRisk(sources: readonly Word[], program: string): string | undefined {
  const risks = sources.map(({ text }) => expressionRisk(program, text));
  return risks.find((risk) => risk !== undefined);
}

function refused(operands: readonly Word[], wanted: RegExp, says: string): string | undefined {
  const found = operands.find(({ text, listed }) => listed === undefined && !wanted.test(text));
  return found === undefined ? undefined : `${found.text} ${says}`;
}
