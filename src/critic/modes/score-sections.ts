import { atLeast, figure, percent, shortFigure } from '../score/decimals.js';
import { coverageMin } from '../score/scoring.js';
import type { Examined } from '../mode.js';
import type { DimensionScore, Finding } from '../shapes.js';
import { listed, told } from './looked.js';

/** Sections that tell a score, in the words of this program: a model's own sums do not count. */
export function qualityScore({ score }: Examined): string {
  if (score === null) return 'Nothing was scored.';
  const coverage = `criteria with ${percent(score.coverage)} of the weight could be judged`;
  if (score.score === null) return `No score: ${coverage}, and ${percent(coverageMin)} are needed.`;
  return `${shortFigure(score.score)}, the weighted mean of what was judged; ${coverage}.`;
}

export function breakdown({ score }: Examined): string {
  const rows = (score?.dimensions ?? []).map(
    ({ name, weight, score: value, why }) =>
      `| ${name} | ${figure(weight)} | ${value === null ? 'not judged' : shortFigure(value)} | ${cell(why)} |`,
  );
  return ['| Dimension | Weight | Score | Why |', '|---|---|---|---|', ...rows].join('\n');
}

/** Lowest first, those below the threshold. */
export function areas({ score, findings }: Examined, threshold: number): string {
  const low = judged(score?.dimensions)
    .filter((each) => !atLeast(each.score, threshold))
    .sort((one, other) => one.score - other.score)
    .map(
      ({ name, score: value, evidence }) =>
        `${name} (${shortFigure(value)}): ${evidence[0] ?? 'see its row'}`,
    );
  const worst = findings.slice(0, worstMax).map((each: Finding) => told(each));
  const none =
    judged(score?.dimensions).length === 0
      ? 'No dimension was judged.'
      : 'No dimension that was judged is below the threshold.';
  return listed([...low, ...worst], none);
}

export function strengths({ score }: Examined): string {
  const best = judged(score?.dimensions)
    .filter((each) => each.score >= strongFrom)
    .sort((one, other) => other.score - one.score)
    .slice(0, strengthsMax);
  return listed(
    best.map(({ name, why }) => `${name}: ${why}`),
    judged(score?.dimensions).length === 0 ? 'No dimension was judged.' : 'None was shown.',
  );
}

const worstMax = 10;
const strengthsMax = 3;
const strongFrom = 0.92;

function judged(
  dimensions: readonly DimensionScore[] = [],
): (DimensionScore & { score: number })[] {
  return dimensions.filter(
    (each): each is DimensionScore & { score: number } => each.score !== null,
  );
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s+/g, ' ');
}
