import { createHash } from 'node:crypto';
import { actionDigest, resolvedFolder } from '../digest.js';
import { environmentOf } from './environment.js';
import { cut, Examination, textOf, word, type Draft, type Spot } from './examination.js';
import { instructionIn } from './injection.js';
import { placeOf } from './paths.js';
import type { Policy } from './policy.js';
import { ShellScope } from './shell-scope.js';
import {
  attentionLimits,
  productionEnvironment,
  signals,
  unknownEnvironment,
  type ActionInQuestion,
  type Classification,
  type Finding,
  type Inspector,
  type Intensity,
  type Pattern,
} from '../shapes.js';
import { Unwrapper } from './unwrap.js';
import type { Work } from './work.js';

/** Phase 0 and 1: which risks an action has, by what it does. Nothing is run, nothing is changed. */

export interface ClassifyParts {
  policy: Policy;
  /** Without it scripts stay unread, and nothing is found of them: they are judged where they can be read. */
  inspector?: Inspector | undefined;
  /** Absolute folder of the executor: absolute paths below it are in scope. Without it none is. */
  root?: string | undefined;
  explain?: ((step: string) => void) | undefined;
  /** Counts what is looked at; see `attentionLimits`. */
  work?: Work | undefined;
}

/**
 * Never throws for what stands in the action: what cannot be read or judged is elevated (Classify failure → p = Elevated).
 * Throws what the inspector throws.
 */
export async function classify(
  action: ActionInQuestion,
  parts: ClassifyParts,
): Promise<Classification> {
  const exam = new Examination({ ...parts, action });
  const spot = spotOf(action, parts.root);
  try {
    await examine(exam, spot);
  } catch (error) {
    // Nested deeper than can be followed.
    if (!(error instanceof RangeError)) throw error;
    exam.tooLarge();
  }
  return conclude(exam);
}

function spotOf(action: ActionInQuestion, root: string | undefined): Spot {
  const place = placeOf(action.cwd === '' ? '.' : action.cwd, '', root);
  const scope = new ShellScope({ cwd: place.kind === 'unknown' ? undefined : place.path });
  for (const [name, value] of Object.entries(action.env)) scope.assign(name, [value]);
  const input: Spot['input'] =
    action.stdin === '' ? { kind: 'none' } : { kind: 'text', word: word(action.stdin) };
  return { scope, input, file: '', remote: false, via: [] };
}

async function examine(exam: Examination, spot: Spot): Promise<void> {
  const { action } = exam;
  const unwrapper = new Unwrapper(exam);
  injections(exam, spot);
  folder(exam, spot);
  const variables = Object.entries(action.env).map(([name, value]) => [name, word(value)] as const);
  await unwrapper.variables(variables, { ...spot, input: { kind: 'none' } });
  const [program] = action.argv;
  // What a model or an agent will do is not known beforehand: only what it is told is looked at.
  if (action.runner !== 'command' && action.argv.length === 0) return;
  if (program === undefined || program === '')
    return exam.opaque('unreadable-action', 'an action without a program', spot);
  await unwrapper.run(action.argv.map(word), spot);
}

/** "Instruction patterns in data fields": all that comes with an action and is no argument. */
function injections(exam: Examination, spot: Spot): void {
  const { data, stdin, env } = exam.action;
  const fields: [string, string][] = [
    ...data.map((text, at): [string, string] => [`data ${at + 1}`, text]),
    ['standard input', stdin],
    ...Object.entries(env).map(([name, value]): [string, string] => [`variable ${name}`, value]),
  ];
  for (const [where, text] of fields) {
    if (!exam.spend('chars', text.length)) return;
    const found = text === '' ? undefined : instructionIn(text, exam.book.injection);
    if (found === undefined) continue;
    exam.found({
      ...{ signal: 'PromptInjection', rule: 'instructs-in-data', spot, irreversible: false },
      ...{ words: `${where} says: ${found}`, says: 'instructions stand in what is data' },
      ...{ tool: 'data', target: where },
    });
  }
}

function folder(exam: Examination, spot: Spot): void {
  const { cwd } = exam.action;
  if (cwd === '' || placeOf(cwd, '', exam.root).kind === 'inside') return;
  exam.found({
    ...{ signal: 'ScopeEscalation', rule: 'folder-outside', words: `folder ${cwd}`, spot },
    ...{ says: 'runs in a folder outside of the root', tool: 'cd', target: cwd },
  });
}

function conclude(exam: Examination): Classification {
  const { action, drafts, policy } = exam;
  const isLocal = drafts.every((draft) => draft.isLocal);
  const signs = { words: exam.words, variables: exam.variables, isLocal };
  const isOpaque = drafts.some(
    ({ signal, isIrreversible }) => signal === 'Emergent' && isIrreversible,
  );
  const told = environmentOf(signs, policy.environments);
  // What cannot be seen through may have its effect anywhere, unless it is worse.
  const environment = isOpaque && told !== productionEnvironment ? unknownEnvironment : told;
  const findings = promoted(drafts, environment, policy);
  const last = findings.at(-1);
  if (exam.dropped > 0 && last !== undefined)
    last.evidence = cut(
      `and ${exam.dropped} more; ${last.evidence}`,
      attentionLimits.evidenceChars,
    );
  const isInjected = findings.some(({ signal }) => signal === 'PromptInjection');
  return {
    level: findings.length > 0 ? 'Elevated' : 'Low',
    findings,
    intensity: intensityOf(findings, environment),
    pattern: patternOf(drafts, environment, action),
    is_cacheable: environment !== unknownEnvironment && !isInjected && !isOpaque,
    digest: { action: actionDigest(action), files: exam.files },
    description: descriptionOf(action),
  };
}

/**
 * Promotion to gate: in production, of what is irreversible, and of advisory findings that come together (Compound). What each
 * signal is promoted by is in the policy.
 */
function promoted(drafts: readonly Draft[], environment: string, policy: Policy): Finding[] {
  const hasIrreversible = drafts.some(({ isIrreversible }) => isIrreversible);
  const findings = drafts.map((draft): Finding => {
    const { signal, severity, evidence, action_description, rule, file, isIrreversible } = draft;
    const { promote } = policy.signals[signal];
    const isProduction = promote.includes('production') && environment === productionEnvironment;
    const together = signal === 'ScopeEscalation' ? hasIrreversible : isIrreversible;
    const isPromoted = isProduction || (promote.includes('irreversible') && together);
    const final = isPromoted ? 'Gate' : severity;
    return { signal, severity: final, evidence, action_description, rule, file };
  });
  const advisory = findings.filter(({ severity }) => severity === 'Advisory');
  if (advisory.length >= policy.compound) for (const each of advisory) each.severity = 'Gate';
  return findings;
}

/** Light: advisory only; medium: one gate; heavy: several gates, production, or an injection (Intensity). */
export function intensityOf(findings: readonly Finding[], environment: string): Intensity {
  if (findings.length === 0) return 'none';
  const gates = findings.filter(({ severity }) => severity === 'Gate').length;
  if (gates === 0) return 'light';
  const isInjected = findings.some(({ signal }) => signal === 'PromptInjection');
  return gates > 1 || environment === productionEnvironment || isInjected ? 'heavy' : 'medium';
}

/** Of several findings the tools and targets of all of them: less would let another action pass. */
function patternOf(
  drafts: readonly Draft[],
  environment: string,
  action: ActionInQuestion,
): Pattern {
  const found = new Set(drafts.map(({ signal }) => signal));
  const tools = drafts.length > 0 ? drafts.map(({ tool }) => tool) : [action.argv[0] ?? ''];
  return {
    tool: joined(tools),
    target: joined(drafts.map(({ target }) => target)),
    environment,
    signals: signals.filter((each) => found.has(each)),
  };
}

function joined(texts: readonly string[]): string {
  const text = [...new Set(texts.filter((each) => each !== ''))].join('; ');
  if (text.length <= attentionLimits.descriptionChars) return text;
  const rest = createHash('sha256').update(text).digest('hex');
  return `${cut(text, attentionLimits.descriptionChars - rest.length - 1)} ${rest}`;
}

/** What is not shown is named: variables, whose values may be secrets, and how much is given as input. */
function descriptionOf({ argv, cwd, env, stdin }: ActionInQuestion): string {
  const chars = attentionLimits.descriptionChars;
  const folder = resolvedFolder(cwd);
  const variables = Object.keys(env).join(', ');
  const besides = [
    ...(folder === '' ? [] : [`in ${folder}`]),
    ...(variables === '' ? [] : [`with ${cut(variables, chars / 4)} set`]),
    ...(stdin === '' ? [] : [`${stdin.length} characters of input`]),
  ].join('; ');
  const suffix = besides === '' ? '' : ` (${cut(besides, chars / 2)})`;
  const words = argv.slice(0, chars).map((each) => word(cut(each, chars)));
  return `${cut(textOf(words), chars - suffix.length)}${suffix}`;
}
