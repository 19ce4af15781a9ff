import { TimeSlice } from "../../async/time-slice.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { StoreContext } from "../rows/area-writes.ts";
import { convertPage, readPages } from "./page-rows.ts";

/**
 * Converts the pages that version 2 of the store wrote, some at a time and each in one statement: at every moment a
 * page is there once, in one form or the other, whoever is killed and whoever else converts. Pages that cannot be
 * converted now are read as they are, and the next time takes them. Never rejects.
 */
export async function convertBinaryPages({ database, logger }: StoreContext): Promise<void> {
  try {
    const slice = new TimeSlice();
    for await (const pages of readPages(database, { order: "asc", from: 0, onlyBinary: true })) {
      const statements = [];
      for (const page of pages) {
        if (slice.isOver) await slice.next();
        statements.push(convertPage(database, page));
      }
      await database.write(statements, "normal");
      logger.debug("pages of the audit trail were converted to JSON", { pages: pages.length });
    }
  } catch (error) {
    // A store that is closed meanwhile has said nothing wrong.
    if (!McpError.is(error, "closed"))
      logger.warn("pages of the audit trail could not be converted", { error: String(error) });
  }
}
