/* global AbortSignal */
// Reviews by the modes of the critic without a model, for the campaigns about them.
import { createHash } from 'node:crypto';
import { systemClock } from '../../dist/src/base/clock.js';
import { bounded } from '../../dist/src/critic/finding.js';
import { modes } from '../../dist/src/critic/modes.js';
import { qualityGate } from '../../dist/src/critic/shapes.js';
import { TreeGround } from '../../dist/src/critic/artifact/tree-ground.js';
import { Lattice } from '../../dist/src/lattice/lattice.js';
import { LatticeQuestions } from '../../dist/src/lattice/questions.js';
import { TreeAnalyses } from '../../dist/src/pgc/analyse/analyses.js';
import { lazyCardOf } from '../../dist/src/pgc/search/card/card.js';
import { openIndex } from '../../dist/src/pgc/search/open-index.js';
import { openShards } from '../../dist/src/pgc/serve/open-shards.js';

const context = {
  ...{ criticality: 'C3', phase: 'PH-DESIGN', target_type: 'TGT-ARCH', maturity: 'MAT-DRAFT' },
  ...{ team: 'TEAM-MULTI', enforcement: 'ENF-PORT', platform: 'PLAT-GENERIC' },
  token_budget: 'TOK-CONST',
};

/** The index is opened once: opening takes seconds in a large tree. */
export async function openGround(repo, home) {
  const { shards } = await openShards(repo, home);
  const lattice = new Lattice(shards, () => shards.map(({ index }) => lazyCardOf(index)));
  let opened;
  const analyses = new TreeAnalyses(() => (opened ??= openIndex(repo, home)));
  const trees = shards.map(({ index }) => index.info);
  return TreeGround.open(repo, new LatticeQuestions(lattice, systemClock, trees), analyses);
}

/** What one mode says. `before`: what others said, by mode. */
export async function examine(ground, path, text, name, before = []) {
  const mode = modes.get(name);
  if (mode === undefined) throw new Error(`no mode is called ${name}`);
  const digest = createHash('sha256').update(text).digest('hex');
  return bounded(
    await mode.examine({
      artifact: { path, text, digest },
      ...{ context, before, ground, rules: [] },
      signal: AbortSignal.timeout(qualityGate.modeMs),
      partial: () => undefined,
    }),
  );
}

/** Evidence that the tree does not hold, and required sections that are missing. */
export async function faultsOf(ground, name, { findings, sections }) {
  const { sections: titles, optionalSections = [] } = modes.get(name);
  const missing = titles
    .filter(
      (title) => ![...optionalSections, ...sections.map((each) => each.title)].includes(title),
    )
    .map((title) => `section ${title} is missing`);
  return [
    ...missing,
    ...(await Promise.all(findings.map((each) => notThere(ground, each)))).flat(),
  ];
}

async function notThere(ground, { id, evidence }) {
  const wrong = [];
  for (const { file_path, line_start, line_end, content } of evidence) {
    const lines = ((await ground.read(file_path)) ?? '').replaceAll('\r', '').split('\n');
    const there = lines.slice(line_start - 1, line_end).join('\n');
    if (!there.startsWith(content))
      wrong.push(`${id} quotes what is not at ${file_path}:${line_start}`);
  }
  return wrong;
}
