import { codec, critic, type Codec, type Plain, type sigma } from '../../wire/codec.js';
import type {
  Critique,
  CritiqueRequest,
  DimensionScore,
  ModeReport,
  PersonJudgement,
  QualityTracking,
  Score,
  TrackedIteration,
} from '../shapes.js';
import type { ModeName } from '../strategies.js';

/** The service under which a critic answers. */
export const criticService = 'critic';
export const criticRole = 'critic';

export type CritiqueProgress = Plain<
  sigma.critic.CritiqueProgress,
  { report: ModeReport | null; next: ModeName | '' }
>;
export type Ratification = Plain<sigma.critic.Ratification, { judgement: PersonJudgement }>;

export type ArtifactHistory = Plain<
  sigma.critic.History,
  { tracking: QualityTracking; ratifications: Ratification[] }
>;

export type CriticListQuery = Plain<sigma.critic.CriticListQuery>;

/** One artifact, by its path where no other has the same, else with its tree: its last review, or the one under way. */
export type CriticRow = Plain<sigma.critic.CriticRow, { score: number | null }>;
export type CriticList = Plain<sigma.critic.CriticList, { rows: CriticRow[] }>;
export type RatifyRequest = Plain<sigma.critic.RatifyRequest, { judgement: PersonJudgement }>;

/** What is said to a critic. `critique` tells after every mode how far it is; see `critiqueProgress`. */
export const criticMessages = {
  critique: {
    type: 'critic.critique',
    request: mended(codec<CritiqueRequest>(critic.CritiqueRequest), mendRequest),
    answer: mended(codec<Critique>(critic.Critique), mendCritique),
  },
  history: {
    type: 'critic.history',
    request: codec<{ artifact: string }>(critic.HistoryQuery),
    answer: mended(codec<ArtifactHistory>(critic.History), mendHistory),
  },
  show: {
    type: 'critic.show',
    request: codec<{ id: string }>(critic.CritiqueQuery),
    answer: mended(codec<Critique>(critic.Critique), mendCritique),
  },
  list: {
    type: 'critic.list',
    request: codec<CriticListQuery>(critic.CriticListQuery),
    answer: mended(codec<CriticList>(critic.CriticList), ({ rows, more }) => ({
      rows: rows.map(withScore),
      more,
    })),
  },
  ratify: {
    type: 'critic.ratify',
    request: codec<RatifyRequest>(critic.RatifyRequest),
    answer: mended(codec<ArtifactHistory>(critic.History), mendHistory),
  },
} as const;

export const critiqueProgress = mended(
  codec<CritiqueProgress>(critic.CritiqueProgress),
  (progress) => ({
    ...progress,
    report: absent(progress.report) ? null : mendReport(progress.report),
  }),
);

/** What is absent on the wire is null in the JSON, not missing. */
function mended<T extends object>(inner: Codec<T>, mend: (value: T) => T): Codec<T> {
  return {
    encode: (value) => inner.encode(value),
    decode: (bytes) => mend(inner.decode(bytes)),
  };
}

function mendRequest({
  artifact,
  context,
  rules,
  handed = [],
  ...request
}: CritiqueRequest): CritiqueRequest {
  return {
    ...request,
    artifact: absent(artifact) ? { path: '', text: '' } : withName(artifact),
    rules: rules.map(withName),
    context: absent(context) ? {} : context,
    ...(handed.length > 0 && { handed: handed.map(mendReport) }),
  };
}

function mendCritique(critique: Critique): Critique {
  return { ...withScore(critique), reports: critique.reports.map(mendReport) };
}

function mendReport({ claims, ...report }: ModeReport): ModeReport {
  const score = absent(report.score) ? null : mendScore(report.score);
  return { ...report, score, ...(absent(claims) ? {} : { claims }) };
}

function mendScore(score: Score): Score {
  return { ...withScore(score), dimensions: score.dimensions.map(withScore<DimensionScore>) };
}

function mendHistory(history: ArtifactHistory): ArtifactHistory {
  const { tracking } = history;
  return {
    ...history,
    tracking: { ...tracking, iterations: tracking.iterations.map(mendIteration) },
  };
}

function mendIteration(each: TrackedIteration): TrackedIteration {
  return { ...withScore(each), improvement_delta: each.improvement_delta ?? null };
}

function withName<T extends { named?: string }>({ named = '', ...rest }: T) {
  return { ...rest, ...(named !== '' && { named }) };
}

function withScore<T extends { score: number | null }>(value: T): T {
  return { ...value, score: value.score ?? null };
}

// A codec may give null where its type has a message.
function absent(value: object | null | undefined): value is null | undefined {
  return value === null || value === undefined;
}
