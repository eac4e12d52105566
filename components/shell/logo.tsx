/** A line that stops at a ring before a bar: hold, and then a person. */
export function Logo() {
  return (
    <svg className="icon h-4 w-4" viewBox="0 0 20 20" aria-hidden="true">
      <rect width="20" height="20" rx="5" fill="currentColor" />
      <g fill="none" stroke="var(--sidebar)" strokeWidth="2" strokeLinecap="round">
        <path d="M3.5 10h4.2" />
        <circle cx="10.2" cy="10" r="2.5" />
        <path d="M15.8 5.4v9.2" />
      </g>
    </svg>
  );
}
