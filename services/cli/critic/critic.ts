import { InvalidArgumentError, type Command } from 'commander';
import type { Config } from '../../../src/config/config.js';
import type { Critique, CritiqueRequest, Flag, Selection } from '../../../src/critic/shapes.js';
import type { EscalationPolicy } from '../../../src/critic/select/escalation.js';
import type { CriticWords } from './critic-request.js';
import { isFine } from './is-fine.js';
import { orchestrate, orchestrationHelp, orchestrationOption } from './critic-orchestration.js';
import { configOf, gathered, wholeNumber, withCommon, type CommonOptions } from '../options.js';
import { printable } from '../../../src/render/terminal.js';
import { bytesOf, linesIn } from '../input.js';
import { FailureWith, print, printRows } from '../output.js';

interface CriticOptions extends CommonOptions, CriticWords {
  select?: string;
  orchestration?: string;
  explain?: boolean;
  full?: boolean;
  policy?: string;
  sessionTokens?: number;
}

const iterationsMost = 64;
const tokensMost = 100_000_000;

/** `critic`: also what `ps-critic` is. What reviews is read when it is wanted. */
export function addCriticCommand(sigma: Command): void {
  const critic = withCommon(sigma.command('critic'))
    .description(
      'review an artifact with adversarial modes, until it passes the gate or a person decides',
    )
    .option('--mode <list>', 'modes separated by commas, or auto: chosen by the context (default)')
    .option('--artifact <path>', 'the text file to review')
    .option('--criticality <level>', 'C1 to C4 (default: by the path)')
    .option(
      '--iteration <n>',
      'number of the iteration: 1 creates, 2 is the first critique (default: counted)',
      wholeNumber(1, iterationsMost),
    )
    .option('--previous-score <score>', 'score of the previous iteration', share)
    .option('--threshold <score>', 'score that passes the gate (0.92; standard 0.85)', share)
    .option('--budget <state>', 'token budget: FULL, CONST or EXHAUST')
    .option('--context <file>', 'PS CONTEXT in Markdown; options override it')
    .option('--strict-order', 'refuse modes in a wrong order instead of sorting them')
    .option('--explain', 'explain which modes would run and why; review nothing')
    .option('--full', 'print all sections of each mode, in Markdown')
    .option(
      '--select <file>',
      'select modes for each context vector of a JSON Lines file, a line of JSON each (--json: one document); - reads standard input',
    )
    .option('--repo <dir>', 'tree whose index is used (default: the git work tree of the artifact)')
    .option('--rules <file>', 'rules that the artifact must follow; repeatable', gathered)
    .option('--policy <file>', 'additional escalation rules')
    .option('--id <id>', 'id of the review; the same id resumes it')
    .option('--session-tokens <n>', 'tokens used by the session so far', wholeNumber(0, tokensMost))
    .option(...orchestrationOption)
    .option('--revision', 'formally reopen an approved or baselined artifact');
  withDimensions(critic)
    .addHelpText(
      'after',
      '\nExit code: 0 passed, or no score was asked for and nothing critical or major was found (C1 has no gate); 1 not passed, nothing could be looked at, a person must decide first, or a bad line in --select; 2 wrong usage.' +
        orchestrationHelp,
    )
    .action(async (options: CriticOptions) => {
      if (options.orchestration !== undefined)
        return await orchestrate(options.orchestration, configOf(options), {
          json: options.json === true,
          ...(options.repo !== undefined && { repo: options.repo }),
        });
      if (options.select !== undefined) return await selectAll(options.select, options);
      await review(options);
    });
}

async function selectAll(file: string, options: CriticOptions): Promise<void> {
  const { selectionsOf, vectorBytesMax } = await import('../../../src/critic/select/batch.js');
  const { detectedBudget } = await import('../../../src/critic/select/tables.js');
  const lines = linesIn(bytesOf(file), vectorBytesMax);
  const budget = options.budget ?? detectedBudget(configOf(options));
  const rows = selectionsOf(lines, await rulesOf(options), budget);
  await printRows(options, { rows, list: 'selections' });
}

/** Dimensions of the context that have no option in the document. */
function withDimensions(critic: Command): Command {
  return critic
    .option('--phase <code>', 'PH-EXPLORE, PH-DESIGN, PH-IMPL, PH-VALID, PH-MAINT')
    .option('--target-type <code>', 'TGT-CODE, TGT-ARCH, TGT-REQ, TGT-RES, TGT-DEC, TGT-PROC')
    .option('--maturity <code>', 'MAT-DRAFT, MAT-REVIEW, MAT-APPR, MAT-BASE')
    .option('--team <code>', 'TEAM-SINGLE, TEAM-MULTI, TEAM-HIL')
    .option('--enforcement <code>', 'ENF-FULL, ENF-PORT, ENF-MIN (default: by the platform)')
    .option('--platform <code>', 'PLAT-CC, PLAT-CC-WIN, PLAT-GENERIC');
}

/** Rules that are named, else those of the settings. */
async function rulesOf(options: CriticOptions): Promise<EscalationPolicy> {
  const { loadEscalation, escalationOf } =
    await import('../../../src/critic/select/escalation-file.js');
  const { policy } = options;
  return policy === undefined ? escalationOf(configOf(options)) : loadEscalation(policy);
}

/** Checks all options before it contacts a critic. */
async function review(options: CriticOptions): Promise<void> {
  const config = configOf(options);
  const { requestFrom } = await import('./critic-request.js');
  const { request, warnings } = await requestFrom(options, config);
  const selection = await selectionFor(request, options);
  const { refusalOf } = await import('../../../src/critic/select/course.js');
  const refused = refusalOf(selection);
  if (refused !== undefined && options.explain !== true)
    throw new FailureWith(refused, { selection }, '');
  // Else they stand in the answer.
  warn(options.json ? [...warnings, ...selection.flags] : warnings);
  if (options.explain === true) {
    const threshold = await gateOf(request, config);
    const { renderSelection } = await import('../../../src/render/critique.js');
    const { path } = request.artifact;
    if (refused !== undefined) process.exitCode = 1;
    return print(options, { artifact: path, threshold, ...selection }, () =>
      renderSelection(selection, path, threshold),
    );
  }
  const critique = await critiqueOf(request, options);
  if (critique.selection.floor !== selection.floor)
    warn([
      {
        ...{ code: 'POLICY', level: 'warning' },
        text: `the critic on the bus has other rules of escalation: its floor is ${critique.selection.floor}, here it is ${selection.floor}`,
      },
    ]);
  const { renderCritique } = await import('../../../src/render/critique.js');
  print(options, critique, () => renderCritique(critique, options.full === true));
  const isGated =
    !request.is_adversarial || (request.threshold ?? config.critic?.threshold) !== undefined;
  if (!isFine(critique, isGated)) process.exitCode = 1;
}

async function selectionFor(request: CritiqueRequest, options: CriticOptions): Promise<Selection> {
  const { selectFor } = await import('../../../src/critic/select/select.js');
  const { sessionTokens: session_tokens } = options;
  const its = { ...request, ...(session_tokens !== undefined && { session_tokens }) };
  return selectFor(its, await rulesOf(options));
}

async function critiqueOf(request: CritiqueRequest, options: CriticOptions): Promise<Critique> {
  const { Critics } = await import('./critics.js');
  const { renderProgress } = await import('../../../src/render/critique.js');
  const config = configOf(options);
  const { policy } = options;
  const its =
    policy === undefined ? config : { ...config, critic: { ...config.critic, escalation: policy } };
  const isShown = process.stderr.isTTY && options.json !== true;
  const show = (line: string): unknown => isShown && process.stderr.write(`\r\u001b[K${line}`);
  try {
    return await new Critics(its).critique(request, {
      onProgress: (progress) => show(printable(renderProgress(progress))),
    });
  } finally {
    show('');
  }
}

/** What a critic of these settings would ask for. */
async function gateOf(
  { threshold, is_adversarial }: CritiqueRequest,
  { critic }: Config,
): Promise<number> {
  const { qualityGate } = await import('../../../src/critic/shapes.js');
  const usual = is_adversarial ? qualityGate.threshold : qualityGate.standardThreshold;
  return threshold ?? critic?.threshold ?? usual;
}

/** On standard error: what the answer does not show to a person. */
function warn(flags: readonly Flag[]): void {
  for (const { level, text } of flags)
    if (level === 'warning') process.stderr.write(`sigma: warning: ${printable(text)}\n`);
}

function share(text: string): number {
  const value = Number(text);
  if (!/^\d*\.?\d+$/.test(text) || value > 1)
    throw new InvalidArgumentError('It must be a number from 0 to 1.');
  return value;
}
