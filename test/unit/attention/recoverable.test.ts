import { expect, test } from 'vitest';
import { classify } from '../../../src/attention/classify/classify.js';
import type { Classification, Inspector } from '../../../src/attention/shapes.js';
import { loadPolicy } from '../../../src/attention/policy-file.js';

/** What is gone for good, and what is not: rehearsals, caches, what is under version control, what a script made or started. */

const policy = loadPolicy();
type Files = Record<string, string>;

/** All the files are under version control as they lie there; whether others are there cannot be told. */
function judge(text: string, files: Files, data: string[] = []): Promise<Classification> {
  const inspector: Inspector = {
    read: (path) => Promise.resolve(Object.hasOwn(files, path) ? files[path] : undefined),
    isTracked: (path) => Promise.resolve(Object.hasOwn(files, path)),
  };
  const promises = { read_only: false, idempotency_key: '', data, scope: [] };
  const argv = ['bash', '-c', text];
  const action = { runner: 'command', argv, cwd: '', env: {}, stdin: '', ...promises };
  return classify(action, { policy, inspector });
}

test.each<[string, Files?]>([
  ['tar xf a.tar --to-command sh'],
  ['tar -xf a.tar --to-command=bash'],
  ['PAGER=sh git log'],
  ['git -c core.pager=sh log'],
  ['rg --pre sh x'],
  ['split --filter=sh a'],
  ['awk \'{ print | "sh" }\' cmds.txt'],
  [
    'python3 a.py',
    {
      'a.py':
        "import subprocess\np = subprocess.Popen(['sh'], stdin=subprocess.PIPE)\np.communicate(open('x').read().encode())\n",
    },
  ],
  [
    'node a.mjs',
    {
      'a.mjs':
        "import { spawn } from 'node:child_process';\nconst s = spawn('bash'); s.stdin.write('x');\n",
    },
  ],
  [
    'python3 a.py',
    { 'a.py': "import boto3\nt = boto3.resource('dynamodb').Table('users')\nt.delete()\n" },
  ],
  [
    'python3 a.py',
    {
      'a.py':
        "from google.cloud import storage\nfor b in storage.Client().list_blobs('x'):\n    b.delete()\n",
    },
  ],
  [
    'python3 a.py',
    {
      'a.py':
        "import boto3\nec2 = boto3.client('ec2')\nec2.terminate_instances(InstanceIds=['i-1'])\n",
    },
  ],
  [
    'node a.mjs',
    {
      'a.mjs':
        "import { Octokit } from '@octokit/rest';\nconst o = new Octokit();\nawait o.repos.delete({ owner: 'a', repo: 'b' });\n",
    },
  ],
  [
    'node a.mjs',
    {
      'a.mjs':
        "import Stripe from 'stripe';\nconst s = new Stripe(k);\nawait s.refunds.create({ charge: 'x' });\n",
    },
  ],
  [
    'node a.mjs',
    {
      'a.mjs':
        "import { S3Client, DeleteObjectsCommand } from '@aws-sdk/client-s3';\nawait c.send(new DeleteObjectsCommand({}));\n",
    },
  ],
  [
    'python3 a.py',
    {
      'a.py':
        'from sqlalchemy.orm import Session\nsession.query(User).filter(User.age < 3).delete()\n',
    },
  ],
  [
    'node a.mjs',
    {
      'a.mjs':
        "import { PrismaClient } from '@prisma/client';\nconst prisma = new PrismaClient();\nawait prisma.user.deleteMany({});\n",
    },
  ],
  [
    'python3 a.py',
    {
      'a.py':
        "from azure.storage.blob import BlobServiceClient\nc = BlobServiceClient(u)\nc.delete_container('x')\n",
    },
  ],
  ['python3 a.py', { 'a.py': "import requests\nrequests.delete('https://api.acme.io/u/1')\n" }],
  ['node a.mjs', { 'a.mjs': "await fetch('https://api.acme.io/u/1', { method: 'DELETE' });\n" }],
  ['http DELETE https://api.acme.io/u/1'],
  ['wget --method=DELETE https://api.acme.io/u/1'],
  ['curl -XDELETE api.acme.io/u/1'],
  ['curl --request delete $URL'],
  ['xh delete https://api.acme.io/u/1'],
  ['cp /dev/null notes/a.md'],
  ['install /dev/null notes/a.md'],
  ['ln -sf /dev/null notes/a.md'],
  ['dd if=/dev/zero of=notes/a.md count=1'],
  ['truncate -s 0 notes/a.md'],
  [': > notes/a.md'],
  ['cat /dev/null > notes/a.md'],
  ['dd if=x of=/dev/sda'],
  ['dd if=x of="$D"'],
  ['dd if=/dev/zero of=../x/a.img'],
  ['tee notes/a.md < /dev/null'],
  ['mv /dev/null notes/a.md'],
  ['cp --remove-destination /dev/null notes/a.md'],
  ['cat < /dev/null > notes/a.md'],
  ['echo -n > notes/a.md'],
  ['> notes/a.md'],
  ["printf '' > notes/a.md"],
  ['true > notes/a.md'],
  ['nmap -sn 10.0.0.0/8'],
  ['masscan 10.0.0.0/8 -p80'],
  ['hydra -l a -P w ssh://x'],
  ['nikto -h x'],
  ['sqlmap -u http://x'],
  ['aircrack-ng x.cap'],
  ['hashcat -m 0 h w'],
  ['git config --global http.sslVerify false'],
  ['git -c http.sslVerify=false clone https://x/y'],
  ['npm config set strict-ssl false'],
  ['npm install --strict-ssl=false'],
  ['NODE_TLS_REJECT_UNAUTHORIZED=0 npm test'],
  ['export NODE_TLS_REJECT_UNAUTHORIZED=0'],
  ['pip config set global.trusted-host x'],
  ['GIT_SSL_NO_VERIFY=true git fetch'],
  ['yarn config set strict-ssl false'],
  ['kubectl --insecure-skip-tls-verify get pods'],
  ['python3 a.py', { 'a.py': 'import requests\nrequests.get(u, verify=False)\n' }],
  ['rm notes.txt'],
  ['rm -rf build'],
  ['rm -rf dist', { '.gitignore': 'dist/\n' }],
  [
    'make clean',
    { Makefile: 'clean:\n\trm -rf data\nx:\n\tmkdir -p data\n', '.gitignore': 'data/\n' },
  ],
  [
    'make clean',
    { Makefile: 'clean:\n\trm -rf uploads\nx:\n\tcp a uploads/\n', '.gitignore': 'uploads/\n' },
  ],
  ['rm -rf ../x/node_modules'],
  ['rm -rf node_modules/../data'],
  ['rm -rf node_modules data'],
  ["find . -name '*.pyc' -o -name '*.db' -delete"],
  ['find .. -name __pycache__ -exec rm -rf {} +'],
  ['find /srv -name node_modules -delete'],
  ['kill 1234'],
  ['pid=1; kill $pid'],
  ['kill $(cat x.pid)'],
  ['node s.js & kill $! 1', { 's.js': '1' }],
  ['pkill node'],
  ['git branch -D x'],
  ['git branch -d -f x'],
  ['git push origin main'],
  ['git push -n; git push'],
  ['alembic upgrade head'],
  ['flyway migrate'],
  ['kubectl delete pod x --dry-run=none'],
  ['shutdown -h'],
  ['kill -9 $pid'],
  ['rm --help x; rm x'],
  ['redis-cli del users --help'],
  [
    'pytest',
    {
      'conftest.py':
        "import shutil, pytest\n@pytest.fixture\ndef store(tmp_path):\n    yield tmp_path\n    shutil.rmtree('data')\n",
    },
  ],
  [
    'pytest',
    {
      'conftest.py':
        "import pytest\n@pytest.fixture\ndef store(tmp_path):\n    d = tmp_path / '..' / 'x'\n    d.unlink()\n",
    },
  ],
  [
    'pytest',
    {
      'conftest.py':
        'import pytest\ndef clean(d):\n    d.unlink()\n@pytest.fixture\ndef s(tmp_path):\n    d = tmp_path\n    clean(d)\n',
    },
  ],
  [
    'pytest',
    {
      'conftest.py':
        "import pytest, pathlib\n@pytest.fixture\ndef s(tmp_path):\n    d = tmp_path / 'a'\n    d = pathlib.Path('data')\n    d.unlink()\n",
    },
  ],
  ['python3 a.py', { 'a.py': "tmp_path = 'data'\nimport shutil\nshutil.rmtree(tmp_path)\n" }],
])('%s is a gate (%j)', async (text, files = {}) => {
  const { findings } = await judge(text, files);
  expect(findings.some(({ severity }) => severity === 'Gate')).toBe(true);
});

test.each<[string, Files?]>([
  ['rm src/a.ts', { 'src/a.ts': '1' }],
  ['git push --help'],
  ['git push -h'],
  ['terraform apply -help'],
  ['npm publish --help'],
  ['kubectl delete --help'],
  ['docker system prune --help'],
  ['ansible-playbook --help'],
  ['git help push'],
  ['alembic upgrade head --sql'],
  ['alembic downgrade base:head --sql'],
  ['terraform plan -out x'],
  ['kubectl delete -f x.yaml --dry-run=client'],
  ['rsync -avn --delete a/ b/'],
  ['git push -n'],
  ['ansible-playbook --check x.yml'],
  ['helm template ./c'],
  ['helm upgrade x ./c --dry-run'],
  ['flyway info'],
  ['apt-get -s remove nginx'],
  ['git clean -n'],
  ['git clean -nd'],
  ['git rm -n x'],
  ['docker compose --dry-run down'],
  ['aws s3 rm s3://b --recursive --dryrun'],
  ['cargo publish --dry-run'],
  ['npm publish --dry-run'],
  ['python manage.py migrate --plan', { 'manage.py': '1\n' }],
  ['rails db:migrate:status'],
  ['pulumi preview'],
  ['git remote prune -n origin'],
  ['dbt compile'],
  ['prisma migrate status'],
  ['gh pr create --help'],
  ['gh pr create --dry-run'],
  ['twine upload --help'],
  ['rm -h'],
  ['terraform destroy --help'],
  ['make -n deploy'],
  ['rm -rf node_modules'],
  ['rm -rf .pytest_cache __pycache__'],
  ["find . -name '*.pyc' -delete"],
  ["find . -type d -name node_modules -prune -exec rm -rf '{}' +"],
  ['rm -rf ./node_modules && npm ci'],
  [
    'make clean',
    {
      Makefile:
        'OUT=build\nall: $(OUT)/app\n$(OUT)/app: main.c\n\tcc -o $@ main.c\nclean:\n\trm -rf $(OUT)\n',
      '.gitignore': '/build/\n',
    },
  ],
  [
    'npm run clean',
    {
      'package.json': '{"scripts":{"clean":"rm -rf dist","build":"tsc --outDir dist"}}',
      '.gitignore': 'dist\n',
    },
  ],
  ['node s.js & kill $!', { 's.js': '1' }],
  ["node s.js & p=$!; trap 'kill $p' EXIT; sleep 1", { 's.js': '1' }],
  ['sleep 100 & kill %1'],
  ['git branch -d x'],
  ['git branch --delete x'],
  ['dd if=/dev/zero of=build/a.bin count=1'],
  ['dd if=/dev/urandom of=tmp/a.bin count=1'],
  ['head -c 100 /dev/zero > build/x.bin'],
  ['fallocate -l 10M build/x.img'],
  ['truncate -s 10M build/x.img'],
  ['dd if=/dev/zero of=/tmp/x bs=1M count=1'],
  ['dd if=a.img of=b.img'],
  [
    'pytest',
    {
      'conftest.py':
        "import pytest, shutil\n@pytest.fixture\ndef store(tmp_path):\n    d = tmp_path / 'a'\n    yield d\n    shutil.rmtree(d)\n    (tmp_path / 'b').unlink()\n",
    },
  ],
  [
    'pytest',
    {
      'conftest.py':
        "import pytest, shutil, os\n@pytest.fixture\ndef store(tmpdir):\n    yield tmpdir\n    shutil.rmtree(str(tmpdir))\n    os.remove(os.path.join(tmpdir, 'x'))\n",
    },
  ],
  [
    'pytest',
    {
      'conftest.py':
        'import pytest, shutil, tempfile\n@pytest.fixture\ndef store():\n    d = tempfile.mkdtemp()\n    yield d\n    shutil.rmtree(d)\n',
    },
  ],
  [
    'node a.mjs',
    {
      'a.mjs':
        "import Stripe from 'stripe';\nconst seen = new Map();\nseen.delete('x');\nconsole.log(seen);\n",
    },
  ],
  ['python3 a.py', { 'a.py': "import boto3\ns3 = boto3.client('s3')\nprint(s3.list_buckets())\n" }],
  [
    'python3 a.py',
    {
      'a.py':
        "import boto3, sys\nfor o in boto3.resource('s3').Bucket('x').objects.all():\n    print(o.key)\n",
    },
  ],
  ["pytest -k 'delete or drop' tests/test_delete.py"],
  ["jest -t 'kill'"],
  ['EDITOR=true git commit --amend'],
  ['PAGER=cat git log'],
  ["GIT_PAGER='less -R' git log"],
  ['GIT_SEQUENCE_EDITOR=true git log'],
  ['sort --compress-program=gzip a'],
  ["split --filter='gzip > $FILE.gz' a"],
  ['tar -I zstd -xf a.tar.zst'],
  ["tar --to-command='cat' -xf a.tar"],
  [
    'python3 a.py',
    {
      'a.py':
        "import subprocess\nsubprocess.run(['git', 'status'])\nsubprocess.run(['node', 'x.js'])\n",
      'x.js': '1',
    },
  ],
  ['git config http.sslVerify'],
  ['git config --get http.sslVerify'],
  ['git config http.sslVerify true'],
  ['npm config get strict-ssl'],
  ['curl http://localhost:3000/x'],
  ['iptables -L'],
  ['echo x > notes/new.md'],
  ['echo hi | tee out.txt'],
  ['cp a.txt b.txt'],
  ['touch x'],
])('%s passes (%j)', async (text, files = {}) => {
  expect((await judge(text, files)).findings).toEqual([]);
});

/** Without files nobody can tell what is under version control: it is asked about. */
test('the removal of a file is a gate where no files can be read', async () => {
  const promises = { read_only: false, idempotency_key: '', data: [], scope: [] };
  const action = { runner: 'command', argv: ['rm', 'src/a.ts'], cwd: '', env: {}, stdin: '' };
  const { findings } = await classify({ ...action, ...promises }, { policy });
  expect(findings.map(({ rule }) => rule)).toEqual(['removes-files']);
});

test('what is deleted on another machine is lost there', async () => {
  const { findings } = await judge('curl -X DELETE https://api.acme.io/v1/users/19', {});
  expect(findings.map(({ signal, severity }) => [signal, severity])).toEqual([
    ['ExternalMutation', 'Advisory'],
    ['Irreversibility', 'Gate'],
  ]);
});
