import { displayText } from "../../../lib/text/display";

/** Text that is HTML already. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | readonly Part[] | undefined;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Returns a text from outside so that it is only text in an element or a quoted attribute. */
export const escaped = (text: string): string =>
  displayText(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");

/** Makes HTML of a template, whose values are texts from outside unless they are {@link Html}. */
export function html(template: TemplateStringsArray, ...values: Part[]): Html {
  return new Html(String.raw({ raw: template.map((text) => text) }, ...values.map(rendered)));
}

function rendered(part: Part): string {
  if (part === undefined) return "";
  if (part instanceof Html) return part.text;
  if (typeof part === "number") return String(part);
  return typeof part === "string" ? escaped(part) : part.map(rendered).join("");
}
