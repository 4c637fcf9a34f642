import type { JetStreamManager, StreamConfig, StreamInfo } from '@nats-io/jetstream';

/** Codes of JetStream, which are larger than those of HTTP. */
const codesMin = 10_000;
const notFound = 10_059;

/** Of an error that JetStream answers with: it has not done what it was asked for. */
export function jetstreamCode(error: unknown): number | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'number' && code >= codesMin ? code : undefined;
}

/** For `catch`: undefined where there is no such stream, or not what was asked of it. */
export function whereAbsent(error: unknown): undefined {
  if (jetstreamCode(error) !== notFound) throw error;
}

/** Makes the stream if it is not there; one that is there stays as it is. */
export async function ensureStream(
  { streams }: JetStreamManager,
  config: Partial<StreamConfig> & { name: string },
): Promise<StreamInfo> {
  return (
    (await streams.info(config.name).catch(whereAbsent)) ??
    (await streams.add({ retention: 'limits', storage: 'file', ...config }))
  );
}
