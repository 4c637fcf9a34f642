import { describe, expect, test } from 'vitest';
import type { FileRole } from '../../../../src/pgc/format/facts.js';
import { hasRole, roleIn, roleOf, saidRole } from '../../../../src/pgc/source/role.js';

const roles: Record<FileRole, readonly string[]> = {
  source: [
    ...['main.go', 'pkg/contest/latest.go', 'cmd/testdriver/main.go', 'internal/testutil/wait.go'],
    ...['pkg/testing.py', 'werkzeug/test.py', 'kernel/sched/core.c', 'lib/efi/stub.c'],
    ...['lib/fake_addrinfo.c', 'scrapy/commands/bench.py', 'rules/readme.go', 'tasks/install.yml'],
    // Names in a set of sources that is shipped are the subject of the program.
    'junit/src/main/java/org/junit/Test.java',
    'core/src/main/java/org/mockito/mock/MockSettings.java',
    'app/src/main/java/com/example/samples/petclinic/Vet.java',
    'kotlin-test/src/main/java/a/Asserts.java',
    ...['src/build.rs', 'src/spec/reader.rs', 'CMakeLists.txt', 'requirements/test.txt'],
    ...['.github/workflows/test.yml', 'package.json', 'web/docs/layout.tsx', 'ui/form.spec.json'],
  ],
  test: [
    ...['a_test.go', 'pkg/testdata/a.go', 'bench_test.go', 'mock_server_test.go'],
    ...['test_a.py', 'pkg/a_test.py', 'conftest.py', 'app/tests.py', 'trio/_tests/tools.py'],
    ...['src/a.test.ts', 'src/a.spec.tsx', 'src/__tests__/a.js', 'spec/helper.js', 'test.js'],
    ...['a/test-b.mjs', 'cypress/e2e/login.ts', 'src/login.cy.ts', 'types.test-d.ts'],
    ...['a/src/test/java/org/a/Tools.java', 'a/src/integrationTest/java/B.java', 'FooTest.java'],
    ...['a/src/it/java/B.java', 'src/testFixtures/java/B.java', 'RunIT.java', 'ATestCase.java'],
    ...['tests/cli.rs', 'src/parser/tests.rs', 'src/parser_tests.rs'],
    ...['lib/list_test.cc', 'lib/list_unittest.cc', 'lib/list_kunit.c', 'lib/test_list.c'],
    ...['base/ListTest.cpp', 't/t0001-init.sh', 't/helper/path.c', 'tools/selftests/net/a.c'],
    ...['runtime-tests/lambda/index.ts', 'tests/fixtures/page.md', 'tests/data/list.txt'],
    ...['testdata/repo/README.md', 'mockito-core/src/test/java/org/a/Tools.java'],
    // What a runner takes by its name is a test, also of a mock.
    ...['test_mock.py', 'pkg/mock/mock_test.go', 'examples/app/a_test.go'],
  ],
  mock: [
    ...['mock_store.go', 'store_mock.go', 'mocks/store.go', 'clientset/fake/pods.go'],
    ...['storefakes/fake_store.go', 'src/__mocks__/fs.js', 'api.mock.ts', 'MockClient.ts'],
    ...['a/src/test/java/MockServer.java', 'tests/stubs/mail.py', 'tests/mail_stub.py'],
    ...['contrib/testing/mocks.py', 'tests/fake_addrinfo.c', 'lib/mock_clock.h'],
  ],
  generated: [
    ...['api/a.pb.go', 'api/a.pb.gw.go', 'a_pb2.py', 'a_pb2_grpc.py', 'a.pb.cc', 'a_pb.d.ts'],
    ...['zz_generated.deepcopy.go', 'schema_generated.h', 'api.generated.ts', 'routes.gen.ts'],
    ...['src/__generated__/query.ts', 'wire/generated/proto.js', 'tests/generated/a.c'],
  ],
  vendored: [
    ...['vendor/github.com/x/y/y_test.go', 'third_party/zlib/inflate.c', 'node_modules/a/index.js'],
    ...['pip/_vendor/rich/box.py', 'deps/pcre/pcre.c', 'extern/a.h', 'site/jquery.min.js'],
    'vendor/a/README.md',
  ],
  example: [
    ...['examples/a.rs', '_examples/main.go', 'samples/kprobes/a.c', 'demos/chat/app.py'],
    ...['docs/examples/a.py', 'examples/notes.md', 'samples/src/main/java/com/example/A.java'],
  ],
  benchmark: [
    ...['benches/search.rs', 'benchmarks/run.ts', 'asv_bench.py', 'src/a.bench.ts'],
    ...['caffeine/src/jmh/java/A.java', 'base/list_benchmark.cc', 'SortBenchmark.java'],
  ],
  document: [
    ...['README', 'README.md', 'tests/README.md', 'examples/README.md', 'CHANGES.txt'],
    ...['docs/conf.py', 'guide.rst', 'NOTICE.txt', 'MAINTAINERS', 'Documentation/a.txt'],
    'site/Documentation/tool.py',
  ],
};
const cases = Object.entries(roles).flatMap(([role, paths]) => paths.map((path) => [path, role]));

describe('the role of a file', () => {
  test.each(cases)('%s is %s', (path, role) => {
    expect(roleOf(path ?? '')).toBe(role);
  });

  test.each<[string, Parameters<typeof roleOf>[1], FileRole]>([
    ['a.go', { generated: true }, 'generated'],
    ['a_test.go', { generated: true }, 'generated'],
    ['vendor/a.go', { generated: true }, 'vendored'],
    ['a.pb.go', { marks: { generated: false } }, 'source'],
    ['a.go', { generated: true, marks: { generated: false } }, 'source'],
    ['deps/own/a.c', { marks: { vendored: false } }, 'source'],
    ['lib/a.c', { marks: { vendored: true, generated: true } }, 'vendored'],
    ['site/a.ts', { marks: { documentation: true } }, 'document'],
    ['docs/a.ts', { marks: { documentation: false } }, 'source'],
  ])('%s with %o is %s', (path, signs, role) => {
    expect(roleOf(path, signs)).toBe(role);
  });

  test('of an index is the one that it keeps, else that of the path', () => {
    const info = { roles: { 'a.go': 'generated' } } as const;
    expect(roleIn(info, 'a.go')).toBe('generated');
    expect(roleIn(info, 'constructor')).toBe('source');
    expect(saidRole(info, 'b.go')).toBe('');
    expect(saidRole({}, 'b_test.go')).toBe('test');
  });

  test('lets a row through that has one of those wanted', () => {
    expect(hasRole({}, [])).toBe(true);
    expect(hasRole({ role: '' }, ['source'])).toBe(true);
    expect(hasRole({ role: 'test' }, ['source', 'mock'])).toBe(false);
  });
});
