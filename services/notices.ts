import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import type { Config } from '../src/config/config.js';
import { BusError } from '../src/errors/bus-error.js';
import type { NoticeWay } from '../src/manager/gate-notices.js';

type Env = Readonly<Record<string, string | undefined>>;

/** The ways by which persons are told of gates. Throws CONFIG_INVALID: a secret that is named and not there. */
export function noticeWaysOf({ attention, model }: Config, env: Env): NoticeWay[] {
  const { command, webhook, secretEnv } = attention?.notify ?? {};
  const secret = secretEnv === undefined ? undefined : (env[secretEnv] ?? '');
  if (secret === '')
    throw new BusError('CONFIG_INVALID', {
      detail: `attention.notify.secretEnv: the environment variable ${secretEnv} is not set`,
    });
  // Keys are not for programs that tell of gates.
  const hidden = new Set(['SIGMA_MODEL_KEY', model?.keyEnv, secretEnv]);
  const shown = Object.fromEntries(Object.entries(env).filter(([name]) => !hidden.has(name)));
  return [
    ...(command === undefined ? [] : [byCommand(command, shown)]),
    ...(webhook === undefined ? [] : [byWebhook(webhook, secret)]),
  ];
}

/** A program with its own arguments alone, never through a shell; it reads the notice from standard input. */
function byCommand([program = '', ...args]: readonly string[], env: Env): NoticeWay {
  return {
    name: 'command',
    tell: (notice, signal) =>
      new Promise((resolve, reject) => {
        const child = spawn(program, args, {
          detached: true,
          env,
          stdio: ['pipe', 'ignore', 'ignore'],
        });
        const end = (): void => {
          // With all that it has started.
          if (child.pid !== undefined) killGroup(child.pid);
          reject(new Error('it was ended'));
        };
        signal.addEventListener('abort', end, { once: true });
        child.once('error', (error: NodeJS.ErrnoException) => reject(new Error(error.code ?? '')));
        child.once('exit', (code, by) => {
          signal.removeEventListener('abort', end);
          if (code === 0) resolve();
          else reject(new Error(`it ended with ${code ?? by}`));
        });
        // It need not read.
        child.stdin.on('error', () => undefined);
        child.stdin.end(notice);
      }),
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

/** The address may hold a token: no message of this names it. No redirect is followed, so that the notice goes nowhere else. */
function byWebhook(url: string, secret: string | undefined): NoticeWay {
  return {
    name: 'webhook',
    tell: async (notice, signal) => {
      const signature =
        secret === undefined
          ? {}
          : {
              'x-sigma-signature': `sha256=${createHmac('sha256', secret).update(notice).digest('hex')}`,
            };
      const answer = await fetch(url, {
        ...{ method: 'POST', body: notice, redirect: 'manual', signal },
        headers: { 'content-type': 'application/json', ...signature },
      }).catch((error: unknown) => {
        const { cause } = error as { cause?: NodeJS.ErrnoException };
        throw new Error(cause?.code ?? 'it does not answer');
      });
      await answer.body?.cancel();
      if (!answer.ok) throw new Error(`it answered ${answer.status}`);
    },
  };
}
