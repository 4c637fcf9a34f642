import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../../deploy/certificates.sh', import.meta.url));

/** An authority in this folder, and for each host `HOST.pem` and `HOST-key.pem`, as an operator makes them. */
export function makeCertificates(folder: string, ...hosts: string[]): void {
  execFileSync('sh', [script, folder, ...hosts], { stdio: 'pipe' });
}
