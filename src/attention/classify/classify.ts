import { createHash } from 'node:crypto';
import { actionDigest, resolvedFolder } from '../digest.js';
import { word } from '../policy/command-pattern.js';
import type { Policy } from '../policy/policy.js';
import { environmentOf } from './environment.js';
import { cut, Examination, textOf, type Draft, type Site } from './examination.js';
import { instructionIn } from './injection.js';
import { Judge } from './judge.js';
import { placeOf } from './paths.js';
import { variableEffects } from './variables.js';
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

/** Phase 0 and 1: which risks an action has, by what it does. Nothing is run, nothing is changed. */

export interface ClassifyParts {
  policy: Policy;
  /**
   * `elsewhere`: commands that run files of the tree are left to the executor, which has them and can bind an approval to their
   * content. Without any look at files they are asked about.
   */
  inspector?: Inspector | 'elsewhere' | undefined;
  /** Absolute folder of the executor: absolute paths below it are in scope. Without it none is. */
  root?: string | undefined;
  explain?: ((step: string) => void) | undefined;
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
  const site = siteOf(action, parts.root);
  try {
    await examine(exam, site);
  } catch (error) {
    // Nested deeper than can be followed.
    if (!(error instanceof RangeError)) throw error;
    exam.exhausted('too-large');
  }
  return conclude(exam);
}

function siteOf(action: ActionInQuestion, root: string | undefined): Site {
  const place = placeOf(action.cwd === '' ? '.' : action.cwd, '', root);
  const cwd = place.kind === 'unknown' ? undefined : place.path;
  const input: Site['input'] =
    action.stdin === '' ? { kind: 'none' } : { kind: 'text', text: action.stdin };
  return { folder: { cwd }, input, via: [] };
}

async function examine(exam: Examination, site: Site): Promise<void> {
  const { action } = exam;
  injections(exam, site);
  folder(exam, site);
  const variables = Object.entries(action.env).map(([name, value]) => [name, word(value)] as const);
  variableEffects(variables, exam, site);
  const [program] = action.argv;
  // What a model or an agent will do is not known beforehand: only its instructions are looked at.
  if (action.runner !== 'command' && action.argv.length === 0) return;
  if (program === undefined || program === '')
    return exam.opaque('unreadable-action', 'an action without a program', site, 'names nothing');
  await new Judge(exam).run(action.argv.map(word), site);
}

/** "Instruction patterns in data fields": all that comes with an action and is no argument. */
function injections(exam: Examination, site: Site): void {
  const { data, stdin, env } = exam.action;
  const fields: [string, string][] = [
    ...data.map((text, at): [string, string] => [`data ${at + 1}`, text]),
    ['standard input', stdin],
    ...Object.entries(env).map(([name, value]): [string, string] => [`variable ${name}`, value]),
  ];
  for (const [where, text] of fields) {
    if (!exam.mayGoOn(text.length)) return;
    const found = text === '' ? undefined : instructionIn(text, exam.book.injection);
    if (found === undefined) continue;
    exam.found({
      ...{ signal: 'PromptInjection', rule: 'instructs-in-data', site, irreversible: false },
      ...{ words: `${where} says: ${found}`, says: 'instructions stand in what is data' },
      ...{ tool: 'data', target: where },
    });
  }
}

function folder(exam: Examination, site: Site): void {
  const { cwd } = exam.action;
  if (cwd === '' || placeOf(cwd, '', exam.root).kind === 'inside') return;
  exam.found({
    ...{ signal: 'ScopeEscalation', rule: 'folder-outside', words: `folder ${cwd}`, site },
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
  const named = environmentOf(signs, policy.environments);
  // What is opaque may have its effect anywhere.
  const environment = isOpaque && named !== productionEnvironment ? unknownEnvironment : named;
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
    description: descriptionOf(action, exam.allowed),
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
function descriptionOf(
  { argv, cwd, env, stdin }: ActionInQuestion,
  allowed: readonly string[],
): string {
  const chars = attentionLimits.descriptionChars;
  const folder = resolvedFolder(cwd);
  const variables = Object.keys(env).join(', ');
  const besides = [
    ...(folder === '' ? [] : [`in ${folder}`]),
    ...(variables === '' ? [] : [`with ${cut(variables, chars / 4)} set`]),
    ...(stdin === '' ? [] : [`${stdin.length} characters of input`]),
    ...[...new Set(allowed)].map((why) => `allowed by the policy: ${why}`),
  ].join('; ');
  const suffix = besides === '' ? '' : ` (${cut(besides, chars / 2)})`;
  const words = argv.slice(0, chars).map((each) => word(cut(each, chars)));
  return `${cut(textOf(words), chars - suffix.length)}${suffix}`;
}
