import { table } from '../kernel/figures.mjs';
import { drawCitations, Texts } from './citations.mjs';
import { mutations } from './mutations.mjs';
import { chance } from './random.mjs';

const deadlineMs = 60_000;
const statuses = ['valid', 'stale', 'false', 'refused'];

/** `verify` on 1 000 random true citations, and on 200 mutations of each of five kinds. */
export async function measureCitations(bench) {
  const { product, root, seed, count } = bench;
  const texts = new Texts(root);
  const drawn = await drawCitations(bench, 2 * count);
  const judge = (citation) => statusOf(product.questions, citation);

  const truths = [];
  for (const { origin, ...citation } of drawn)
    truths.push({
      of: origin,
      citation,
      isTrue: texts.isTrue(citation),
      ...(await judge(citation)),
    });

  const below = chance(seed);
  const good = truths.filter(({ isTrue }) => isTrue).map(({ citation }) => citation);
  const lies = [];
  const lucky = {};
  for (const [of, mutate] of Object.entries(mutations)) {
    lucky[of] = 0;
    for (let left = Math.round((2 * count) / Object.keys(mutations).length); left > 0;) {
      const changed = mutate(good[below(good.length)], { below, texts, others: good });
      if (changed === undefined) continue;
      // Some are true all the same: the next line may hold the same text.
      if (texts.isTrue(changed)) {
        lucky[of] += 1;
        continue;
      }
      left -= 1;
      lies.push({ of, citation: changed, ...(await judge(changed)) });
    }
  }
  return { figures: figuresOf(truths, lies, lucky), text: render(truths, lies, lucky) };
}

/** A citation that is not even well formed is refused with a code. */
async function statusOf(questions, citation) {
  try {
    const { results } = await questions.verify({ citations: [citation] }, { deadlineMs });
    const [verdict] = results;
    return { status: verdict.status, reason: verdict.reason };
  } catch (error) {
    if (error.code !== 'CITATION_MALFORMED') throw error;
    return { status: 'refused', reason: error.message };
  }
}

function counts(rows) {
  const of = (status) => rows.filter((each) => each.status === status).length;
  return Object.fromEntries(statuses.map((status) => [status, of(status)]));
}

function byOrigin(rows) {
  const names = [...new Set(rows.map(({ of }) => of))];
  return names.map((of) => [of, rows.filter((each) => each.of === of)]);
}

function figuresOf(truths, lies, lucky) {
  const each = (rows) => Object.fromEntries(byOrigin(rows).map(([of, its]) => [of, counts(its)]));
  const disputed = truths.filter(({ isTrue }) => !isTrue).length;
  return { true: each(truths), true_by_text: truths.length - disputed, mutated: each(lies), lucky };
}

function render(truths, lies, lucky) {
  const row = (title, rows) => [title, rows.length, ...Object.values(counts(rows))];
  const disputed = truths.filter(({ isTrue }) => !isTrue);
  const wrong = [
    ...truths.filter(({ status }) => status !== 'valid'),
    ...lies.filter(({ status }) => status === 'valid'),
    ...disputed,
  ];
  return [
    table([
      ['CITATIONS', 'COUNT', ...statuses.map((each) => each.toUpperCase())],
      ...byOrigin(truths).map(([of, rows]) => row(`true, of ${of}`, rows)),
      row('true, all', truths),
      ...byOrigin(lies).map(([of, rows]) => row(`mutated, ${of}`, rows)),
      row('mutated, all', lies),
    ]),
    `${truths.length - disputed.length} of the true ones are true by the files, read without the product`,
    `passed over, true all the same by the files: ${Object.entries(lucky)
      .map(([of, each]) => `${of} ${each}`)
      .join(', ')}`,
    ...wrong.map(
      (each) =>
        `  WRONG ${each.of}: ${each.status}: ${each.reason} ${JSON.stringify(each.citation)}`,
    ),
  ].join('\n');
}
