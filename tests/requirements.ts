/**
 * What must be true, by id. A test that proves one begins its name with the id, so that a search for the
 * id finds the proof. `requirements.test.ts` fails on an id that is missing here, on a cited id that is not
 * listed, and on one that is neither proved by a test nor marked as open or superseded, with a reason.
 */
export type Requirement = string | MarkedRequirement;

export interface MarkedRequirement {
  readonly text: string;
  /** `open`: not there yet. `superseded`: something else is true instead, which a test may prove. */
  readonly mark: "open" | "superseded";
  /** Why it is open, or what holds instead. */
  readonly reason: string;
}

/** How many ids each group has, from 01 on. */
export const groupSizes: Readonly<Record<string, number>> = {
  CFG: 46,
  ENV: 17,
  NAM: 18,
  DSC: 21,
  RES: 20,
  BRG: 25,
  CLI: 17,
  TST: 8,
  ERR: 18,
  DOC: 6,
  MSG: 12,
  PRO: 25,
  TRN: 7,
  STD: 25,
  SHT: 10,
  SSE: 15,
  HTP: 9,
  RST: 14,
  STO: 9,
  PRM: 22,
  SES: 17,
  AUT: 17,
  ISO: 10,
  CON: 21,
  REG: 21,
  STA: 8,
  UI: 13,
  PRT: 12,
  LIM: 20,
};

const needsSandbox = "there is no isolation yet; an entry that asks for it is refused";
const needsPage = "there is no settings page yet";

function open(text: string, reason: string): MarkedRequirement {
  return { text, mark: "open", reason };
}

function superseded(text: string, reason: string): MarkedRequirement {
  return { text, mark: "superseded", reason };
}

export const requirements: Readonly<Record<string, Requirement>> = {
  // Configuration
  "CFG-01":
    "Servers are read from the user's file, from ancestors of the project and from the project.",
  "CFG-02":
    "The project wins over a nearer ancestor, that over a farther one, that over the user's file.",
  "CFG-03": "A `servers` object maps each name to its entry.",
  "CFG-04": "`command` may be a list: executable first, arguments after it, no shell.",
  "CFG-05": "`url` makes an entry an HTTP server.",
  "CFG-06": "An entry with both `command` and `url` is refused.",
  "CFG-07": "An entry with neither `command` nor `url` is refused, unless it only disables.",
  "CFG-08": "`env` defaults to nothing and holds strings only.",
  "CFG-09": "`envPassthrough` defaults to nothing and lists names of host variables.",
  "CFG-10": "`cwd` is optional; when set, the child starts there.",
  "CFG-11": "An entry is enabled unless it says otherwise.",
  "CFG-12":
    "A nearer entry replaces a farther one of the same name whole; nothing is merged into it.",
  "CFG-13": "Names that differ are all available.",
  "CFG-14": "`{ enabled: false }` alone is a valid entry and disables the farther one.",
  "CFG-15":
    "Enabled and disabled servers mix; disabled ones are listed and skipped by connect-all.",
  "CFG-16": "Connecting a disabled server through the library is a config error.",
  "CFG-17": "A URL alone is a complete entry.",
  "CFG-18":
    "A relative executable is resolved against `cwd`, else against the folder of its layer.",
  "CFG-19": "Windows, WSL and POSIX paths are passed on letter by letter.",
  "CFG-20": "A `mcpServers` file of another host loads unchanged.",
  "CFG-21": "An entry given in code means the same as one in a file.",
  "CFG-22": "Code may give a stdio server with command, args, env and timeout.",
  "CFG-23": "Code may give a remote server with url, headers and timeout.",
  "CFG-24": "`timeout` is in seconds and 30 by default.",
  "CFG-25": "`reconnect` and `maxReconnectAttempts` belong to the entry; on and 3 by default.",
  "CFG-26": "A missing required field is named by the error.",
  "CFG-27": "The transport may be named; a name that does not fit the entry is refused.",
  "CFG-28": "`auth` is none, bearer or OAuth; any other type is refused.",
  "CFG-29": "Prefix, allow list, block list, timeout and environment are fields of the entry.",
  "CFG-30": "A parsed entry is frozen all the way down.",
  "CFG-31": "Names of one to 128 visible characters are accepted; others are refused at once.",
  "CFG-32": "The tool prefix defaults to the server's name.",
  "CFG-33": "No allow list means every tool, an empty one means none; it speaks of original names.",
  "CFG-34": "The block list is applied after the allow list.",
  "CFG-35": "A transport is plain data with a kind.",
  "CFG-36": "The order in which servers are given is kept.",
  "CFG-37": "An argument that looks like a credential is warned about and not repeated.",
  "CFG-38": "Servers have timeouts of their own, used for their calls.",
  "CFG-39": "A loaded configuration can be iterated as name and entry.",
  "CFG-40": "Two entries that collide in name or id are refused with both origins.",
  "CFG-41":
    "An unknown key is warned about with a likely spelling, or refused when asked; never its value.",
  "CFG-42":
    "A config error knows server, file, layer and field; broken JSON gives line and column.",
  "CFG-43": "A byte order mark and an empty file body are fine.",
  "CFG-44": "Wrong types fail at once.",
  "CFG-45": "The JSON Schema of the file and the types come from one source, and a check exists.",
  "CFG-46": "A configuration survives writing and reading, except for its secrets.",

  // Environment of a child
  "ENV-01": "A child sees a short list of harmless host variables and nothing else.",
  "ENV-02": "A host secret is invisible to a child that was not given it.",
  "ENV-03": "Values of `env` are set.",
  "ENV-04": "Passthrough copies named host variables and skips those that are unset.",
  "ENV-05": "`env` wins over passthrough, passthrough over the defaults.",
  "ENV-06": "Naming a default variable in passthrough changes nothing.",
  "ENV-07": "`${VAR}` in a value is expanded from the host when the server starts.",
  "ENV-08": "A value without `${…}` is left alone.",
  "ENV-09": "`${VAR:-default}` works, and can be switched off.",
  "ENV-10": "An unset `${VAR}` stops the start and is named; `$${` is a literal.",
  "ENV-11": "Servers never see one another's variables.",
  "ENV-12": "Credentials reach no log, event, error or printed configuration.",
  "ENV-13": "A plain value of `env` reaches the child.",
  "ENV-14": "A value may come from a secret source, asked at the start.",
  "ENV-15": open("An isolated child gets its own HOME.", needsSandbox),
  "ENV-16": "Windows needs a few more variables, found whatever their case.",
  "ENV-17": "Variables that Node or npm add by themselves are not passed on.",

  // Public names
  "NAM-01": "A tool's public name is `mcp__{server}__{tool}` by default.",
  "NAM-02": "A public name can be taken apart; a foreign name has no server.",
  "NAM-03": "Tools of the same name on two servers stay apart.",
  "NAM-04": "The preset `mcp_server_tool` cleans both parts in one place.",
  "NAM-05": "That preset writes lower case and turns spaces and hyphens into underscores.",
  "NAM-06": "`github` and `list-repos` become `mcp_github_list_repos`.",
  "NAM-07": "Path tricks in names collapse to single underscores.",
  "NAM-08": "A tool knows its public name, its original name and its server.",
  "NAM-09": "Public names are built from the server's id, never from a random one.",
  "NAM-10": "The preset `prefix_tool` puts the chosen prefix before the original name.",
  "NAM-11": "The original name goes over the wire.",
  "NAM-12": "Public names suit every LLM provider; long ones are cut with a stable hash.",
  "NAM-13":
    "Colliding names get a hash of their own origin on both sides; native tools are never shadowed.",
  "NAM-14": "A name with nothing usable in it gets a stable made-up one.",
  "NAM-15": "Calls are routed by a map, so a name that can be read in two ways cannot mislead.",
  "NAM-16": "The first `__` after the prefix ends the server's part.",
  "NAM-17": "Look-alike, invisible and direction-changing characters never reach a public name.",
  "NAM-18": "Building, taking apart and recognising names are exported.",

  // Discovery
  "DSC-01": "Tools and their schemas are listed on connect.",
  "DSC-02": "Every listed tool appears under its public name.",
  "DSC-03": "Resources can be listed with address and description.",
  "DSC-04": "Listing resources fetches no content.",
  "DSC-05": "A server's record gives tools, resources and state, or nothing for an unknown name.",
  "DSC-06": "Listed tools stand beside native ones with description and schema.",
  "DSC-07": "Tools are listed again after a reconnect.",
  "DSC-08": "Tools of a server that is not connected are not offered by the section.",
  "DSC-09": "Tools can be registered from schemas without a connection.",
  "DSC-10": "Running a registered tool without a connection fails clearly.",
  "DSC-11": "Registered tools serve listing and validation until a live list replaces them.",
  "DSC-12": "A filtered tool is neither listed nor callable.",
  "DSC-13": "A section's tools are refused before it is connected.",
  "DSC-14": "The tool list is frozen and ordered by server, then as listed.",
  "DSC-15": "A tool without description or schema gets empty ones; its other fields are kept.",
  "DSC-16": "Handshake and listing happen for every server.",
  "DSC-17": "One malformed tool is left out and reported; the others load.",
  "DSC-18":
    "Of two tools with one name the first counts; the others are reported and not callable.",
  "DSC-19": superseded(
    "A failed listing leaves the connection up, with a warning and a way to try again.",
    "a first list that fails is the failure of the connection; a later one leaves what was known",
  ),
  "DSC-20": "A filter entry that matches no tool is warned about with near matches.",
  "DSC-21": "The order of tools is the same every time.",

  // Results
  "RES-01": "Text parts of a result are joined by line breaks.",
  "RES-02": "A result `{ text }` is that text.",
  "RES-03": "A result `{ result }` is that value as text.",
  "RES-04": "An instance with content gives the text of its parts.",
  "RES-05": "A string is passed on unchanged.",
  "RES-06":
    "Content goes before text, text before result; nothing is empty text, the rest is JSON.",
  "RES-07": "A result knows its content, whether it is an error, and its text.",
  "RES-08": "An error result without text is an error still.",
  "RES-09": "The projection of a result keeps the whole content.",
  "RES-10": "A result marked as an error is no success.",
  "RES-11": "A JSON-RPC error is no success and keeps its message.",
  "RES-12": "A timeout is no success and says so.",
  "RES-13": "An unknown tool is no success.",
  "RES-14": "A result can be projected to `{ result }` or `{ error }`.",
  "RES-15": "The text handed to an agent is the normalized one.",
  "RES-16": "Images and other parts are kept, and shown as placeholders in the text.",
  "RES-17": "A result past the cap is cut at its end and marked.",
  "RES-18": "Control sequences are removed where people read, and kept for programs.",
  "RES-19": "Structured content and metadata survive; the text falls back to structured content.",
  "RES-20": "A failed outcome keeps what the server sent.",

  // From tool to call
  "BRG-01": "A tool has name, description, schema and a way to run it.",
  "BRG-02": "A tool can be had from a connected client without a registry.",
  "BRG-03": "Arguments are checked before anything is sent.",
  "BRG-04": "Wrong arguments are a failed outcome that names tool and problem.",
  "BRG-05": "A failed check of a schema is no success.",
  "BRG-06": "A tool's schemas become types, its description is cut to 200 characters.",
  "BRG-07":
    "The type of a tool's arguments is named after server and tool: `GithubCreateIssueParams`.",
  "BRG-08": "Arguments cannot be changed once they are given.",
  "BRG-09": "Each kind of JSON value has its type, and a field that is not required is optional.",
  "BRG-10": "A missing required field is named.",
  "BRG-11": "Whole numbers are numbers, and whole floats are integers.",
  "BRG-12": "A call sends the arguments under the tool's own name and waits for the answer.",
  "BRG-13":
    "An error of the server reads as the server wrote it, or `MCP error` when it wrote nothing.",
  "BRG-14": "A success says so and carries the server's result.",
  "BRG-15":
    "A schema that cannot be used is an error with server, tool and reason, of that tool alone.",
  "BRG-16": "A model sees the whole schema of a tool.",
  "BRG-17": "Tools are handed out in the shapes of agent frameworks, beside native ones.",
  "BRG-18":
    "A call by public name finds server and tool, checks the capability and gives text back.",
  "BRG-19":
    "A schema without type or properties is completed for providers, and kept as it is for checks.",
  "BRG-20": "Extra arguments are sent only where the schema allows them.",
  "BRG-21":
    "Schemas are read as 2020-12 in full; references are never fetched, all work is bounded.",
  "BRG-22":
    "Defaults are not added to what is sent; property names such as `__proto__` are harmless.",
  "BRG-23": "Structured content that breaks the output schema is flagged, and kept.",
  "BRG-24": "Field names that are no identifiers are kept as they are.",
  "BRG-25": "`{ name, input }` is accepted as a call.",

  // Command line
  "CLI-01": "In the REPL, /mcp lists configured and connected servers.",
  "CLI-02": "In the REPL, a configured server is connected by its name.",
  "CLI-03": "Connecting may allow all tools of the server.",
  "CLI-04": "Connecting may ask for each tool.",
  "CLI-05": "Connecting may share the server with all agents.",
  "CLI-06": "Connecting may keep the server for one agent.",
  "CLI-07": "In the REPL, a server is disconnected by its name.",
  "CLI-08": "In the REPL, the tools of all servers are listed.",
  "CLI-09": "In the REPL, the tools of one server are listed.",
  "CLI-10": "The test servers can be started from the command line, with a choice of port.",
  "CLI-11": "Flags that contradict each other are an error of usage.",
  "CLI-12": "Connecting without flags asks for consent and then for sharing.",
  "CLI-13": "What cannot be done is told apart: unknown, disabled, unapproved, misspelt, misused.",
  "CLI-14": "Every command works without a person, as text or JSON, with an exit code per failure.",
  "CLI-15": "The REPL reaches everything else that can be done with a server.",
  "CLI-16": "Text of servers is made safe before it is printed; lists cut descriptions.",
  "CLI-17": "Disconnecting a server ends what was allowed of it.",

  // Test servers
  "TST-01": "There is a test server over stdio.",
  "TST-02": "There is a test server over HTTP with a choice of port.",
  "TST-03": "It echoes, tells the time and adds.",
  "TST-04": "Its tools are listed in the order echo, get_time, add.",
  "TST-05": "There are example REST servers that greet and calculate without evaluating code.",
  "TST-06": "A guide with running examples shows how to build a server.",
  "TST-07": "A faulty server misbehaves on request in every known way.",
  "TST-08": "Test servers run inside the process too and answer errors with the standard codes.",

  // Errors
  "ERR-01": "Every error is an `McpError`.",
  "ERR-02": "A connection error knows server and transport.",
  "ERR-03": "A tool error knows server, tool and the JSON-RPC error, if there was one.",
  "ERR-04": "A timeout error knows server and time.",
  "ERR-05": "A schema error knows server, tool and reason.",
  "ERR-06": "An error has a message and a code.",
  "ERR-07": "Transport failures have a class of their own.",
  "ERR-08": "Config failures have a class of their own.",
  "ERR-09": "The families can be caught apart.",
  "ERR-10": "A refusal is a permission error.",
  "ERR-11": "Running a tool that has no connection is a state error.",
  "ERR-12": "Sending while not connected is a state error.",
  "ERR-13": "An answer that does not come in time is a timeout error.",
  "ERR-14": "A missing optional part is named by the error.",
  "ERR-15": "Each kind of failure ends as documented: thrown at connect, an outcome at call.",
  "ERR-16":
    "Codes are stable, errors survive a second copy of the package and print without secrets.",
  "ERR-17": "What people read says what failed, where it is defined, the evidence and what to do.",
  "ERR-18": "A failure in the background is an event, never an unhandled rejection.",

  // Documentation
  "DOC-01":
    "What to check when a server does not connect, tools do not appear or calls fail is written down and can be run.",
  "DOC-02": "Use cases are shown: services, delivery, systems inside a company.",
  "DOC-03": "The documentation says which transport to use when.",
  "DOC-04": "The documented config examples load in tests.",
  "DOC-05":
    "The patterns of configuration for sections (single, several, filtered, HTTP) compile and run.",
  "DOC-06": "The example of access behind permissions runs.",

  // Messages
  "MSG-01":
    "A message has version, method, params, result, error and id; only the version is always there.",
  "MSG-02": "A message with a result or an error is a response, also when the result is null.",
  "MSG-03": "A message with method and id is a request; one without id is a notification.",
  "MSG-04": "Absent fields are not written.",
  "MSG-05": "Malformed JSON and another version are refused; unknown members do no harm.",
  "MSG-06": "A request gets an id of its own and empty params.",
  "MSG-07": "A response carries the request's id and a result.",
  "MSG-08": "An error response carries the request's id, a code and a message.",
  "MSG-09": "Reading back what was written gives the same message.",
  "MSG-10": "Notifications can be made; the data of an error is kept.",
  "MSG-11": "Batches are accepted where the revision had them, and never sent.",
  "MSG-12": "A message is one line of UTF-8.",

  // Protocol
  "PRO-01": "A client connects, negotiates, discovers, calls and closes, in that order.",
  "PRO-02": "`await using` closes a client, also after an exception.",
  "PRO-03": "A client can be connected with a timeout and closed by hand.",
  "PRO-04": "Name, version and capabilities of the server are known after the handshake.",
  "PRO-05": "The list of tools is empty until it was asked for.",
  "PRO-06": "A client is initialized from the handshake until it is closed.",
  "PRO-07": "A client is connected as long as its transport is.",
  "PRO-08": "A response must match a pending request in type and value of its id.",
  "PRO-09": "Notifications are never taken for a response; the 101st unhandled one fails the wait.",
  "PRO-10": "What is not allowed is refused.",
  "PRO-11": "A line past the limit ends the connection.",
  "PRO-12": "Listing fills the cache; a call gives a result with its text.",
  "PRO-13": "A JSON-RPC error becomes an error with its message and code.",
  "PRO-14": "Requests follow JSON-RPC, and a call names the original tool.",
  "PRO-15": "A call is bounded by its server's timeout.",
  "PRO-16": "A call without an active connection is a state error.",
  "PRO-17": "Every published revision is negotiated.",
  "PRO-18": "Nothing but a ping precedes the answer to `initialize`.",
  "PRO-19": "A request of the server is answered, or refused as unknown; it is never a response.",
  "PRO-20": "An error response without id is counted and survived.",
  "PRO-21": "Capabilities sent are those that are handled; those received decide what is asked.",
  "PRO-22": "Timeout and abort cancel on the wire; everything takes a signal.",
  "PRO-23": "The handshake has a deadline of its own, and its error names the phase.",
  "PRO-24": "Keys such as `__proto__` in messages do no harm.",
  "PRO-25": "Pages are followed up to caps on pages, items, bytes and time.",

  // Transports
  "TRN-01": "A transport knows its server's name, its timeout and whether it is connected.",
  "TRN-02": "A transport connects, disconnects and sends requests.",
  "TRN-03": "At the lowest level a JSON-RPC error is a returned message.",
  "TRN-04": "Sending and receiving are separate; a request is both.",
  "TRN-05":
    "A transport is not connected before connect, after disconnect, and once the peer is gone.",
  "TRN-06": "Users can bring a transport of their own.",
  "TRN-07": "Closing twice, while connecting or from an error handler is safe.",

  // Stdio
  "STD-01": "A server runs as a child and speaks one JSON-RPC message per line.",
  "STD-02": "The host starts, serves and stops the process.",
  "STD-03": "Command, args, environment and timeout describe a child.",
  "STD-04": "A command list with passthrough and working folder does, too.",
  "STD-05": "Connecting spawns and completes the handshake.",
  "STD-06": "Protocol version and client identity can be chosen.",
  "STD-07": "Many requests may be in flight; answers find theirs by id.",
  "STD-08": "A failed handshake leaves no process behind.",
  "STD-09": "Stopping ends stdin, then terminates, then kills the whole tree, within the grace.",
  "STD-10": "Pending requests end with the connection.",
  "STD-11": "A request without a connection is a state error.",
  "STD-12": "A request without an answer times out.",
  "STD-13": "Send, receive, request and close exist.",
  "STD-14": "A line of more than 10 MiB ends the connection, with memory bounded.",
  "STD-15": "It works without any optional part.",
  "STD-16": "The working folder can be chosen.",
  "STD-17": "Arguments are a list, passed as they are.",
  "STD-18": "Chunks may split and join messages and characters anywhere.",
  "STD-19": "Lines that are no JSON are skipped and counted, up to a cap.",
  "STD-20": "Stderr is always drained; its last lines are kept for errors.",
  "STD-21":
    "A failed start says why: not found, not allowed, no such folder, exit code and stderr.",
  "STD-22": "No shell is involved; Windows shims are resolved safely.",
  "STD-23": "Writing respects backpressure; a closed pipe is a lost connection.",
  "STD-24": "No child outlives its host.",
  "STD-25": "The transport itself uses no network.",

  // Streamable HTTP
  "SHT-01": "Streamable HTTP takes url, headers and method.",
  "SHT-02": "Configured headers go with every request.",
  "SHT-03": "The method is POST by default; GET opens the stream first.",
  "SHT-04": "A POST may be answered by JSON or by an event stream.",
  "SHT-05": "Both content types are accepted; notifications may be answered with nothing.",
  "SHT-06":
    "The session id is echoed, dropped on reconnect, deleted on close and renewed after 404.",
  "SHT-07": "The negotiated version goes with every request.",
  "SHT-08": "A server may have a stream of its own: optional, resumed, at the pace it asks for.",
  "SHT-09": "A streamed answer is one result, with its progress reported.",
  "SHT-10": "Bodies, events and waiting are bounded.",

  // HTTP with server-sent events
  "SSE-01": "Servers that use server-sent events can be connected; the log calls it deprecated.",
  "SSE-02": "SSE takes url and headers; the headers go with every request, the GET included.",
  "SSE-03": "Connecting performs the handshake.",
  "SSE-04": "The address for messages can be derived: `/sse` becomes `/message`, else it is added.",
  "SSE-05": "A message is POSTed; its answer may come in the body or on the stream.",
  "SSE-06": "A status of 400 or more is a returned error message at the lowest level.",
  "SSE-07": "Sending without a connection is a state error.",
  "SSE-08": "A request that is not answered in time is a timeout error.",
  "SSE-09": "Disconnecting closes the stream.",
  "SSE-10": "No optional library is needed for it.",
  "SSE-11": "A failed handshake is an error and leaves nothing open.",
  "SSE-12": "Messages of the server arrive while nothing is asked; the stream stays open.",
  "SSE-13": "The event stream parser follows the standard, within a size cap.",
  "SSE-14": "An announced address of another origin is refused.",
  "SSE-15": "The loss of the stream is the loss of the connection, which can be made again.",

  // JSON-RPC by POST
  "HTP-01": "Every message is POSTed to the address, and the response holds the answer.",
  "HTP-02": "Addresses are checked before use; localhost is allowed.",
  "HTP-03": "Nothing optional is needed unless this transport is used.",
  "HTP-04": "It keeps the same contract as every other transport.",
  "HTP-05": "Only http and https addresses with a host and without user names are accepted.",
  "HTP-06":
    "Every address a name resolves to is judged, in every notation, and what was judged is dialled.",
  "HTP-07": "Redirects are not followed, or only where the credentials may go.",
  "HTP-08": "Nothing is sent a second time.",
  "HTP-09": "Concurrent requests do not disturb one another.",

  // REST
  "RST-01": "Tools are listed by GET /tools.",
  "RST-02": "A tool is called by POST /tools/call with its name and arguments.",
  "RST-03": "A result comes as `{ result }`.",
  "RST-04": "An error comes as `{ error }`.",
  "RST-05": "An `{ error }` body is a failure whatever the status.",
  "RST-06": "GET /health must say ok; anything else means that the server is not responsive.",
  "RST-07": "Credentials go to all three endpoints.",
  "RST-08": "A malformed tool list is an error with a reason.",
  "RST-09": "The example servers work unchanged.",
  "RST-10": "Tools over REST are named, checked, permitted and reported like any other.",
  "RST-11": "A result may be any JSON; a body with content blocks is an MCP result.",
  "RST-12": "Endpoints are joined to path and query of the address.",
  "RST-13": "A server without /health is known by its tools, with a warning.",
  "RST-14": "An HTTP error without JSON is told by status and a harmless excerpt.",

  // Store
  "STO-01":
    "The store is a file in the user's folder, made on demand and private; it can be moved.",
  "STO-02": "Servers are rows of `mcp_servers` with id, name, config and status.",
  "STO-03": "Adding, editing and disabling a server survive a restart.",
  "STO-04": "Removing a server deletes its row.",
  "STO-05": "`config` holds the server's entry exactly as it was given.",
  "STO-06":
    "Servers of files and of the store merge with a documented precedence and visible origin.",
  "STO-07": "What is to start at once starts with the host, which does not wait for it.",
  "STO-08": "The store has versions; damage is answered without loss; many processes may share it.",
  "STO-09": "Tokens are kept sealed, apart from the entries.",

  // Permissions
  "PRM-01": "Every call is checked as `mcp:{server}:{tool}` with the action `execute`.",
  "PRM-02": "A granted capability allows exactly that tool.",
  "PRM-03": "What is not granted is refused with an error before anything is sent.",
  "PRM-04": "The check uses the server's and the tool's own names, never the public one.",
  "PRM-05": "A session is given its set of capabilities when it is made.",
  "PRM-06": "yolo may and is never asked, trusted may and is asked, sandboxed may not.",
  "PRM-07": "Nobody's agent, and a sandboxed one, may not use MCP at all.",
  "PRM-08":
    "Confirmation is required unless yolo or the server was allowed, also without permissions.",
  "PRM-09": "An answer for a server is remembered for the session.",
  "PRM-10": "What a person allowed in one session serves no other session and no other agent.",
  "PRM-11": "Tools that would ask are left out where that is wanted, or where nobody can be asked.",
  "PRM-12": "A sandboxed agent reaches no server by any path.",
  "PRM-13": "allow-all asks nothing.",
  "PRM-14": "per-tool asks for each tool.",
  "PRM-15": "The lists of allowed and blocked tools are a rule of authorization.",
  "PRM-16": "Adding a server shows a warning about servers one does not trust.",
  "PRM-17": "Without anyone to ask the answer is no.",
  "PRM-18": "A question names server, tool and readable arguments, and what may be answered.",
  "PRM-19": "A denial is an error that the model reads.",
  "PRM-20": "Rights are checked at the call, not only at listing.",
  "PRM-21": "What was agreed to is bound to the identity of the launch; a change asks again.",
  "PRM-22": "Capabilities may have wildcards and may expire.",

  // Sessions
  "SES-01":
    "A session has its servers from the start, connects them on demand, and ends with the host.",
  "SES-02": "Every call publishes who called which tool of which server, and how it went.",
  "SES-03": "Native tools publish the same event as tools of servers.",
  "SES-04": "Calls that fail are published, too, those out of time included.",
  "SES-05": "A session has a bus of its own, and a section belongs to one session.",
  "SES-06":
    "What a call writes to the state holds when it succeeds, and is forgotten when it fails.",
  "SES-07": "Wrong arguments leave the state unchanged.",
  "SES-08": "Inside a handler the connection pool is a resource; what is not there is undefined.",
  "SES-09": "A handler gets its params and the context of the call.",
  "SES-10": "A call by public name gives text back.",
  "SES-11":
    "A call looks at the level, then at what was allowed, then asks and remembers the answer.",
  "SES-12": "The history of calls survives a rollback.",
  "SES-13": "A failing observer never changes the result of a call.",
  "SES-14": "Calls and transactions at the same time never undo each other's work.",
  "SES-15": "What a rollback cannot undo is said by the outcome.",
  "SES-16":
    "A snapshot of the state is plain JSON and holds what the program put there, nothing else.",
  "SES-17": "Everything that happens is on one typed bus.",

  // Signing in
  "AUT-01": "Without authentication no authorization header is sent.",
  "AUT-02": "A bearer token goes with every request, its scheme written once.",
  "AUT-03": "A person signs in with a browser, and the token is used from then on.",
  "AUT-04": "Only the registered address on this machine is returned to, with the right state.",
  "AUT-05": "Public clients prove with PKCE that the code is theirs.",
  "AUT-06": "Scopes that were asked for and not granted are named.",
  "AUT-07": "Tokens are renewed before they end, and once when they are refused.",
  "AUT-08": "Tokens are kept where only the user can read them.",
  "AUT-09": "A wrong redirect, a wrong client and an endpoint out of reach are three errors.",
  "AUT-10": "Authentication is set up before connecting, and is optional.",
  "AUT-11": "Configured headers serve as authentication on every remote transport.",
  "AUT-12": "An entry says whether it signs in with a token or with OAuth.",
  "AUT-13": "A program may sign in for itself, without a person.",
  "AUT-14": "What the entry leaves out about signing in is discovered from the server.",
  "AUT-15": "Tokens are never sent to another host, nor after a redirect.",
  "AUT-16": "Signing in works without a browser on this machine, and the wait for it ends.",
  "AUT-17": "Many calls that are refused at once renew the token once.",

  // Isolation
  "ISO-01": open("Processes take the isolation of their entry or of the host.", needsSandbox),
  "ISO-02": open("Named domains are all that a process can reach.", needsSandbox),
  "ISO-03": open("A sandbox keeps a process to what it was given.", needsSandbox),
  "ISO-04": open("Without a policy nothing is restricted.", needsSandbox),
  "ISO-05": open("An isolated process has a home of its own, which goes with it.", needsSandbox),
  "ISO-06": open("Network and sandbox hold for every process that is started.", needsSandbox),
  "ISO-07": open(
    "Sandboxes can be exchanged; one that is asked for and not there stops the start.",
    needsSandbox,
  ),
  "ISO-08": superseded(
    "Domains are kept by a proxy, or are advice where there is no sandbox.",
    "the proxy is always enforced by a network of its own; nothing is advice",
  ),
  "ISO-09": open("Paths may be readable or writable; the rest is read-only.", needsSandbox),
  "ISO-10": open("Remote servers obey the same list of domains.", needsSandbox),

  // Connections
  "CON-01":
    "A connection moves between its states only in the ways the design lists, and tells each.",
  "CON-02": "Nothing connects before it is needed.",
  "CON-03": "A section can connect its servers as soon as it is made.",
  "CON-04": "Closing is deterministic: afterwards no connection and no process is left.",
  "CON-05": "A refused connection is a typed error that names server and transport.",
  "CON-06": "A lost connection comes back by itself, after three attempts at most.",
  "CON-07": "A crash is a connection error, and everything that hung on the server is cleaned up.",
  "CON-08": "Reconnecting can be switched off and bounded for each server.",
  "CON-09": "Disconnecting all is graceful.",
  "CON-10": "A health check finds dead connections.",
  "CON-11": "A health check asks the server itself, in the words of its dialect and era.",
  "CON-12": "A failed connection can be tried again on demand.",
  "CON-13": "A server can be switched off for a while; what is configured stays.",
  "CON-14": "A removed server is disconnected first; an edited one begins anew.",
  "CON-15": "After a reconnect tools are listed again, and tools held by a program still work.",
  "CON-16": "Waits between attempts grow, are spread, and end when the server is disconnected.",
  "CON-17":
    "Calls during a reconnect wait for it; calls in flight at the loss fail and are not repeated.",
  "CON-18": "A section connects whole or not at all, unless a part of it is wanted.",
  "CON-19": "What a caller awaits keeps the process alive; timers and idle servers do not.",
  "CON-20": "A server that nobody uses can be stopped.",
  "CON-21":
    "A section connects all of its servers and disconnects them; doing so twice does no harm.",

  // Registry
  "REG-01": "A server can be connected for one agent, shared or not.",
  "REG-02": "A shared server is visible to all agents, any other to its owner only.",
  "REG-03": "Tools are listed by what an agent may see.",
  "REG-04": "Servers are listed by what an agent may see.",
  "REG-05": "A server is found by its name, by who may see it; it lists its tools.",
  "REG-06": "A tool is found by its public name, with its server, by who may see it.",
  "REG-07": "A check of all connections removes the dead and returns their names.",
  "REG-08": "A server can be disconnected by its name.",
  "REG-09": "All servers can be closed at once.",
  "REG-10": "Servers over different transports live side by side.",
  "REG-11": "Connections are shared between agents, permissions are not.",
  "REG-12": "Connecting all servers happens in parallel.",
  "REG-13": "Connecting all servers throws for none and says for each whether it worked.",
  "REG-14": "There is a record of every server, connected or not.",
  "REG-15": "The connection pool gives the live connection of a server.",
  "REG-16": "A section is connected when all of its servers are.",
  "REG-17": "A server is replaced only when its definition changed.",
  "REG-18": "Only who holds a shared server may disconnect it.",
  "REG-19": "Concurrent attempts to connect one server are one attempt.",
  "REG-20": "Closing all is parallel, complete and idempotent.",
  "REG-21": "How many servers there are, which are connected and what tools each has can be asked.",

  // Status
  "STA-01":
    "A state says whether a server is responsive, under way, out of reach or misconfigured.",
  "STA-02": "Connecting a server lists its tools, and so does connecting it again.",
  "STA-03": "The last status of a server is kept in its row; a stale one is ignored.",
  "STA-04": "Connecting all servers gives a yes or no for each.",
  "STA-05": "A command of the REPL lists configured and connected servers.",
  "STA-06": "A section says whether it is connected.",
  "STA-07":
    "A status tells where a server is, since when, what it offers and what failed; changes are events.",
  "STA-08": "Out of reach and misconfigured are told apart, with what to do about it.",

  // Settings page
  "UI-01": open("The page lists the servers with their status.", needsPage),
  "UI-02": open(
    "A server is added with its details, its authentication, and connected.",
    needsPage,
  ),
  "UI-03": open("Details may be pasted as JSON.", needsPage),
  "UI-04": open("Status is an icon with a word, and follows what happens.", needsPage),
  "UI-05": open("Each server can be reconnected, disconnected and removed.", needsPage),
  "UI-06": open("The kind of authentication is chosen; secrets are masked.", needsPage),
  "UI-07": open("A warning about servers one does not trust is shown.", needsPage),
  "UI-08": open("The tools of connected servers are visible.", needsPage),
  "UI-09": open("An error leads to what helps.", needsPage),
  "UI-10": open(
    "Missing fields are named, removing is confirmed, an empty list says so.",
    needsPage,
  ),
  "UI-11": open("Everything an entry can hold can be edited and tried.", needsPage),
  "UI-12": open(
    "The page is served to this machine alone, guarded, and usable by everybody.",
    needsPage,
  ),
  "UI-13": open("Nothing else depends on the page.", needsPage),

  // Prompt sections
  "PRT-01": "A section has a title, a key and a template, and connects nothing unless told.",
  "PRT-02": "By default a section renders the inventory of its servers, letter by letter.",
  "PRT-03": "A title of one's own is the heading.",
  "PRT-04": "A template may name the servers, count the tools and list them by server.",
  "PRT-05": "A template loses its shared indentation and the space around it.",
  "PRT-06": "A section takes no params unless it declares them.",
  "PRT-07": "A prompt renders its sections and exposes their tools, each name once.",
  "PRT-08": "A section accepts no other template unless it says so.",
  "PRT-09": "An unknown variable is refused when the section is made; `$$` is a dollar sign.",
  "PRT-10": "What a server says about a tool is one short line that cannot become markup.",
  "PRT-11": "A server without tools says so or is left out; before connecting nothing is rendered.",
  "PRT-12": "Server names are parted by a comma and a space.",

  // Beyond the seeds
  "LIM-01": "Calls run at the same time, and each can be cancelled.",
  "LIM-02": "Progress, logs and the outcome of a call can be followed as they happen.",
  "LIM-03": "Resources, templates, prompts and completion are available, paged and by capability.",
  "LIM-04": "A type that cannot say what the schema says is wider and says so, never wrong.",
  "LIM-05": "A list that changes is fetched again, and the difference is an event.",
  "LIM-06": "A section can be cloned for another session: connections are shared, nothing else is.",
  "LIM-07": "A resource can be made a block of context, and read by a model through a tool.",
  "LIM-08": "Prompts of a server are templates with named arguments.",
  "LIM-09": open(
    "Servers can be looked up in a public registry; nothing starts by that.",
    "there is no client of a registry yet",
  ),
  "LIM-10": "Notifications of a server have handlers.",
  "LIM-11": "Users of one connection are counted; the last one to leave closes it.",
  "LIM-12": "Variables may have defaults.",
  "LIM-13": "The format of other hosts' files is read, arguments apart from the command.",
  "LIM-14":
    "A feature that needs something outside says so, with the fix; all else works without it.",
  "LIM-15": "Nothing has to be restarted to get at tools that were missing.",
  "LIM-16": "Servers speak up by themselves over HTTP, too.",
  "LIM-17": "There are five kinds of transport, one in memory, and whatever a program brings.",
  "LIM-18": "The example that calculates runs no code.",
  "LIM-19": "An outcome says whether something outside may have changed.",
  "LIM-20": "Listing resources fetches no contents; reading one is a question of its own.",
};
