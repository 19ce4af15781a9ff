import type { LaunchDifference } from "../human/launch-question.ts";
import type { Approval } from "../store/rows/approval-rows.ts";
import { escapeInvisible, quoteWord } from "../text/untrusted/escape-invisible.ts";
import { coveredName, type LaunchFacts } from "./launch-facts.ts";

export const notShown = "(not shown)";
const another = "(another value, not shown)";

/** Something a launch depends on, as a person calls it. */
interface Trait {
  readonly shown: string;
  /** Everything the trait consists of: two traits that look alike may differ here. */
  readonly exact: string;
}

/**
 * Compares a launch with the earlier approval that is most like it, the newest of several; undefined
 * without one. `values` are those that a person is shown though the facts hold a digest.
 */
export function compareLaunches(
  facts: LaunchFacts,
  earlier: readonly Approval[],
  values: ReadonlyMap<string, string> = new Map(),
): LaunchDifference | undefined {
  const likeness = ({ facts: other }: Approval): number =>
    Object.entries(facts).filter(([name, value]) => other[name] === value).length;
  // Sorting keeps the order of equals, which is newest first.
  const [nearest] = earlier.toSorted((one, other) => likeness(other) - likeness(one));
  if (nearest === undefined) return undefined;
  const [before, now] = [traitsOf(nearest.facts), traitsOf(facts)];
  const changes = [...new Set([...before.keys(), ...now.keys()])].flatMap((name) => {
    const [was, is] = [before.get(name), now.get(name)];
    if (was?.exact === is?.exact) return [];
    const looksAlike = was?.shown === is?.shown;
    const shownName = escapeInvisible(name);
    const value = values.get(shownName);
    return [
      {
        name: shownName,
        ...(was === undefined ? {} : { was: was.shown }),
        ...(is === undefined ? {} : { is: value ?? (looksAlike ? another : is.shown) }),
      },
    ];
  });
  return { approvedAt: nearest.approvedAt, changes };
}

function traitsOf(facts: LaunchFacts): ReadonlyMap<string, Trait> {
  const traits = new Map<string, Trait>();
  const words: Trait[] = [];
  for (const { factName, covered, name, value } of inOrder(facts)) {
    const exact = JSON.stringify([factName, value]);
    // The folder tells it, also where the entry leaves it to the host.
    if (name === "cwd" && facts["folder"] !== undefined) continue;
    if (/^args\.\d+$/.test(name))
      words.push({ shown: covered === undefined ? quoteWord(value) : notShown, exact });
    else {
      const label = name === "commandPath" ? "file" : name;
      const known = traits.get(label);
      // A value that is shown in part has a second fact, of its hidden part.
      const shown = covered === undefined ? escapeInvisible(value) : (known?.shown ?? notShown);
      traits.set(label, { shown, exact: `${known?.exact ?? ""}${exact}` });
    }
  }
  if (words.length > 0)
    traits.set("arguments", {
      shown: words.map(({ shown }) => shown).join(" "),
      exact: words.map(({ exact }) => exact).join(""),
    });
  return traits;
}

/** Sorts the facts: not every database keeps the order in which they were stored. */
function inOrder(facts: LaunchFacts) {
  const named = Object.entries(facts).map(([factName, value]) => {
    const covered = coveredName(factName);
    return { factName, covered, name: covered ?? factName, value };
  });
  const { compare } = new Intl.Collator("en", { numeric: true });
  return named.toSorted(
    (one, other) => compare(one.name, other.name) || compare(one.factName, other.factName),
  );
}
