// Every way in which an artifact may fare between its creator, its critic and a person: what each critique says is laid
// down here, what follows from it is computed. Prints each trend.
//
//   npm run campaign:critic-cycles -- [--json]
//
// Exits with 1 when a claim does not hold.
import { standingAfter } from '../../dist/src/critic/cycle/cycle.js';
import { leniencyFlags } from '../../dist/src/critic/score/leniency.js';
import { trendOf } from '../../dist/src/critic/cycle/tracking.js';
import { claim } from './claims.mjs';
import { told } from './report.mjs';

const c2 = { criticality: 'C2', isAdversarial: true, iterationsMax: 3 };
const longer = { ...c2, iterationsMax: 8 };

/** `score`, or `score digest`, or with findings: `0.8 b x,y`, `!x` where the creator calls x wrong. */
function round(text, at) {
  const [figure, digest = `v${at}`, ids = '', judged = ''] = text.split(' ');
  const score = figure === '-' ? null : Number(figure);
  const all = ids.split(',').filter(Boolean);
  return {
    ...{ iteration: 0, critique: `critique-${at}`, digest, score },
    verdict: score === null ? 'UNSCORED' : score >= 0.92 ? 'PASS' : 'REVISE',
    findings: all.map((id) => id.replace('!', '')),
    disputed: all.filter((id) => id.startsWith('!')).map((id) => id.slice(1)),
    ...{ is_hard: false, needs_person: '', judged },
  };
}

const outcomes = [
  ['accepted at the third iteration', c2, ['0.78', '0.93'], 'accepted'],
  ['high at once, and still revised once', c2, ['0.95', '0.95'], 'accepted'],
  ['conditional at the limit', c2, ['0.78', '0.87'], 'ratifying CONDITIONAL'],
  ['ratified', c2, ['0.78', '0.87 v1 , accept'], 'ratified CONDITIONAL'],
  ['refused by a person', c2, ['0.78', '0.87 v1 , refuse'], 'refused CONDITIONAL'],
  ['revised once more, and accepted', c2, ['0.78', '0.87 v1 , revise', '0.94'], 'accepted'],
  ['nobody ratifies it', c2, ['0.78', '0.87'], 'expired CONDITIONAL', true],
  ['too low at the limit', c2, ['0.60', '0.70'], 'escalated BELOW_GATE'],
  ['plateau, high', longer, ['0.86', '0.88', '0.90'], 'ratifying PLATEAU'],
  ['plateau, low', longer, ['0.70', '0.72', '0.74'], 'escalated PLATEAU'],
  ['oscillation A B A', longer, ['0.60 A', '0.70 B', '0.80 A'], 'escalated OSCILLATION'],
  ['dispute in words', longer, ['0.60 A x,y', '0.75 B !x'], 'escalated DISPUTE'],
  ['dispute in silence', longer, ['0.60 A x', '0.65 A x', '0.70 A x'], 'escalated DISPUTE'],
  ['below 0.50 after three', longer, ['0.20', '0.30', '0.45'], 'escalated LOW'],
  ['unscored', c2, ['-'], 'escalated UNSCORED'],
  ['a jump', c2, ['0.71', '0.93'], 'ratifying PERSON'],
  ['C4 is ratified always', { ...c2, criticality: 'C4' }, ['0.85', '0.95'], 'ratifying PERSON'],
  ['C1 is reported', { ...c2, criticality: 'C1' }, ['0.30'], 'reported'],
];

const rows = outcomes.map(([name, settings, texts, wanted, isExpired = false]) => {
  const rounds = texts.map(round);
  const standing = standingAfter(rounds, settings, isExpired);
  const got = `${standing.state} ${standing.reason}`.trim();
  const trend = trendOf(rounds, 0.92);
  const flags = leniencyFlags(rounds, settings.criticality).map(({ code }) => code);
  return { name, settings, rounds, standing, got, wanted, trend, flags };
});

const isJson = process.argv.includes('--json');
if (!isJson) {
  for (const { name, rounds, standing, got, trend, flags } of rows) {
    const scores = rounds.map(({ score }) => (score === null ? '-' : score.toFixed(2)));
    const rate = trend.rate === null ? 'no rate' : `${trend.rate.toFixed(3)} an iteration`;
    const left = trend.projected === null ? '' : `${trend.projected} more projected, `;
    const raised = flags.length === 0 ? '' : `, ${flags.join(', ')}`;
    console.log(`${name.padEnd(34)} ${bars(rounds)}  ${scores.join(' → ')}`);
    console.log(`${''.padEnd(34)} ${got} at iteration ${standing.iteration}${raised}`);
    console.log(`${''.padEnd(34)} ${rate}; ${left}${trend.projection}\n`);
  }
}

function bars(rounds) {
  const steps = '▁▂▃▄▅▆▇█';
  const bar = ({ score }) =>
    score === null ? '·' : steps[Math.min(7, Math.floor(score * steps.length))];
  return rounds.map(bar).join('').padEnd(6);
}

const claims = rows.map(({ name, got, wanted }) =>
  claim(`${name}: ${wanted}`, got === wanted, got),
);
process.exitCode = told('cycles of creator, critic and person', {
  json: isJson,
  figures: { outcomes: rows.length },
  claims,
});
