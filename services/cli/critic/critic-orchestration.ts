import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../../src/config/config.js';
import { criticLimits } from '../../../src/critic/shapes.js';
import type { PhaseResult } from '../../../src/critic/orchestration/orchestration.js';
import { asBusError, BusError } from '../../../src/errors/bus-error.js';
import { indexedIn, artifactPlace, realOf, treeOf } from '../../../src/remote/artifact-place.js';
import { Critics } from './critics.js';
import { isFine } from './is-fine.js';
import { wholeOf } from '../input.js';
import { printable } from '../../../src/render/terminal.js';
import { print } from '../output.js';

export const orchestrationOption = [
  '--orchestration <file>',
  'review the phases of an ORCHESTRATION.yaml, several at once, and write back what they came to',
] as const;

export const orchestrationHelp = `

A file for --orchestration:
  phases:
    - { id: facts, adversarial_review: { artifact: design.md, modes: [chain-of-verification] } }
    - { id: whole, after: [gate], adversarial_review: { artifact: design.md, modes: [llm-as-judge] } }
  barriers:
    - { id: gate, type: adversarial_sync, waits_for: [facts] }
  cross_pollination:
    - { from: facts, to: whole }`;

/**
 * Runs the reviews of an orchestration file; artifacts are found from the folder of the file, and known by their path from the
 * tree that it lies in. Run again it goes on where it was. Exit code 1: a phase failed, a person has to decide, or one that gives no score found what is wrong. Throws ORCHESTRATION_INVALID, TOO_LARGE.
 */
export async function orchestrate(
  file: string,
  config: Config,
  { json, repo }: { json: boolean; repo?: string },
): Promise<void> {
  const { OrchestrationFile, orchestrationLimits } =
    await import('../../../src/critic/orchestration/orchestration-file.js');
  const { runOrchestration } = await import('../../../src/critic/orchestration/orchestration.js');
  const folder = path.dirname(await realOf(file));
  const isKnown = indexedIn(config);
  const root =
    repo === undefined
      ? treeOf(path.join(folder, path.basename(file)), isKnown)
      : await realOf(repo);
  const orchestration = new OrchestrationFile(
    await read(file, file, orchestrationLimits.bytes),
    file,
  );
  const critics = new Critics(config);
  const results = await critics.together((critic) =>
    runOrchestration(orchestration, {
      review: (request, onProgress) => critic.critique(request, { onProgress }),
      read: (artifact) =>
        read(path.resolve(folder, artifact), artifact, criticLimits.artifactBytes).catch(
          (cause: unknown) => {
            if (asBusError(cause).code !== 'ORCHESTRATION_INVALID') throw cause;
            throw new BusError('ARTIFACT_NOT_FOUND', { path: artifact }, { cause });
          },
        ),
      placeOf: (artifact) => artifactPlace(artifact, { root, folder, isKnown }),
      // Written whole or not at all: a reader meanwhile finds the old file.
      save: async (text) => {
        const next = `${file}.${process.pid}.next`;
        await writeFile(next, text);
        await rename(next, file);
      },
      root,
      onProgress: (phase, { done, total, report }) => {
        if (report !== null)
          process.stderr.write(
            `${printable(phase)}: ${report.mode} ${report.status} (${done}/${total})\n`,
          );
      },
    }),
  );
  print({ json }, { phases: results }, () => results.map(rendered).join('\n'));
  const isOpen = ({ critique }: PhaseResult): boolean =>
    critique === undefined ||
    critique.needs_person ||
    (critique.verdict === 'UNSCORED' && !isFine(critique, false));
  if (results.some(isOpen)) process.exitCode = 1;
}

function rendered({ phase, critique, reason, why: failed }: PhaseResult): string {
  if (critique === undefined)
    return `${printable(phase)}: not reviewed: ${printable(failed)} (${reason})`;
  const { verdict, why, artifact } = critique;
  return `${printable(phase)}: ${verdict} ${printable(artifact)} (${printable(why)})`;
}

/** Throws ORCHESTRATION_INVALID, TOO_LARGE. */
async function read(file: string, name: string, limit: number): Promise<string> {
  try {
    return (await wholeOf(path.resolve(file), limit, name)).toString();
  } catch (error) {
    const { code, message } = asBusError(error);
    if (code !== 'USAGE') throw error;
    throw new BusError('ORCHESTRATION_INVALID', { detail: message }, { cause: error });
  }
}
