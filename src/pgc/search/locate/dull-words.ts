/**
 * Words of reports that say little about the code, as terms of the index, by how many tenths of a word they
 * count. Learned from messages of commits: of those that have the word, how many change a file that has
 * it, against what its rareness makes one expect.
 */
const words: Record<number, string> = {
  1: 'foundat',
  2: 'cc compil coupl definit express git gmail kind my reproduc statement term v2',
  3:
    'accordingly am break broke cast functionality general hope http implicit integer introduc ' +
    'lack latest meant obviously patch refer regress revert rework spot style thank trivial ' +
    'typo understand uninitializ useful www',
  4:
    'additionally ago among anymor approach basically believ bin bogu box breakag bugfix built ' +
    'came circumstanc comparison compiler conditional conver course declar deriv design ' +
    'document dynamically echo elimin entirely exact factor former fr furthermor hi html impact ' +
    'imply impossibl improv incompatibl incorrect incorrectly infrastructur intend internally ' +
    'latter lead mail manipul me mention minimal minor mismatch notic novel obtain obviou oop ' +
    'originally peopl plain possibility potential practic project prototyp recent recogniz ' +
    'redundant review rewrit rid said seen semantic simplify solut solv sparse specifically ' +
    'strict subsequently third three ugly unfortunately unify unlik unneed useless variou ' +
    'wrongly wrote',
  5:
    'ability accidentally accord advantag altern although analysi apparently argument ' +
    'automatically backward bring buggy bunch bz cat caught changelog circular cleanly clearly ' +
    'clobber co combin commit complain confu consolid convent day deal develop devinit ' +
    'differenc discover discuss distinct dmesg doc easier easily effectively emit equivalent ' +
    'exactly explain expose fact few figur fine forever forgot four gcc generally hack hang ' +
    'happy he his home hopefully i386 idea identical implicitly incomplet inconsistency ' +
    'inconsistent indeed indent ing initiali jp leak lkml lockup lose main mainlin manual ' +
    'mechanism member merg mess mistak moment mon namely odd org osdl particular perhap permit ' +
    'piec plu pretty previously produc proper propose pull ran rc1 rc5 readabl recently redhat ' +
    'refactor reflect regard relevant resolv respectively restrict retain reveal rmmod saw ' +
    'seriou several shown sign silenc similar similarly smpl sorry stand strang suggest suppose ' +
    'suse temporary theory thought today totally twice typically unchang unnecessarily ' +
    'unnecessary userland v3 view vs wasn weird went whitespac wrapper year yes',
  6:
    'accessor achiev addit additional affect afterward almost along annot annoy anyon api ' +
    'appear appropriat appropriately assumpt backtrac badly bail becam behav behaviour benefit ' +
    'besid best bugzilla build bypass carry cgi checker checkpatch clarify comment complex ' +
    'complic concern confirm consistent construct cope corner correctly coverity crash custom ' +
    'cut dave decrease definitely dependent deprec describ desir despit detail didn differently ' +
    'difficult disappear distinguish divid earlier easy eg emb encounter endian endless enhanc ' +
    'environ equal especially essentially eventually ever everywher explicit explicitly extract ' +
    'fairly filenam flood foo form fortunately frequently futur goe gone grep guard half ' +
    'hardcod harmless haven help hex hung imbalanc infinit initially insid insufficient ' +
    'interact interpret invert investig involv kept let littl logic lot maintain manner ' +
    'manually matter minut mix modprob moreover morton mostly multi nasty necessarily neither ' +
    'nice nor normally observ obsolet often older omit oopse outsid overwrit partially ' +
    'particularly past php play pointless possibly potentially presently prior problematic ' +
    'propag quest quickly quit racy random reach realiz rearrang reasonabl regardless relat ' +
    'relatively reliabl removal render responsibl retriev reverse safer say scenario scheme ' +
    'separ separately shadow shouldn significant silently silly simpler simply site situat ' +
    'slight slightly somehow someon somewher stabl stay stress strictly sub subsequent subtl ' +
    'sufficient superfluou suspect themselv therefor think together took top trail traverse tri ' +
    'trick troubl tue tweak un unconditionally undeclar uninitialise unique unset upstream ' +
    'usual usually v1 weren whatever whenever wherea worry worst worth wouldn wrap wrong xxx',
  7:
    'abl accur acpica act activity alon alter app applic arbitrary aren arriv befor behavior ' +
    'bisect bkl bootup broken brought bump certain choose cleaner clearer completely ' +
    'concurrently confuse consistency consistently content continue convert couldn cpu0 ' +
    'critical dealloc decr defconfig dependency deref directly disallow duplic ed effect ' +
    'element entir exclud fake faster fold forget fully functional further garbag got ' +
    'gracefully guess hand hasn heavy hidden hit hurt important individual inlin inspect ' +
    'interest invoc job kb late linu miss molnar near newer newly nobody other overwritten p2 ' +
    'perfectly phase pick please presenc previou probably procedur quick rare rather rc2 refuse ' +
    'relax remember replac respect rest risk robust sane scope seem semaphor sery shorter snip ' +
    'sometim stage stall statically stuck stuff subtract suitabl supply symptom teach ' +
    'temporarily tip tool treat trip trust unrel unsaf unusabl usag validity variant visibl ' +
    'wast wed workload worse',
};

const tenths = new Map(
  Object.entries(words).flatMap(([tenth, its]) =>
    its.split(' ').map((word) => [word, Number(tenth) / 10] as const),
  ),
);

/** What a term of a report counts, 0.1 to 1. */
export function dullness(term: string): number {
  return tenths.get(term) ?? 1;
}
