/** Sections of an oslo.config file: section → option → value. */
export type Sections = Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>>;

/** Writes sections as an oslo.config file. */
export function renderIni(sections: Sections): string {
  return Object.entries(sections)
    .map(([section, options]) => {
      const lines = Object.entries(options).map(([option, value]) => {
        // oslo.config substitutes other options for $name
        const text = String(value).replaceAll("$", "$$$$");
        if (/[\n\r]/.test(text)) throw new Error(`the option ${option} of [${section}] has a line break`);
        return `${option} = ${text}\n`;
      });
      return `[${section}]\n${lines.join("")}`;
    })
    .join("\n");
}
