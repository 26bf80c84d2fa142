"""Two executables of native/programs.cpp print the same: one has plans of constant evaluation, one those of an executable."""
import subprocess, sys

plain, planned = (subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines() for program in sys.argv[1:3])
failed = sum(a != b for a, b in zip(plain, planned)) + abs(len(plain) - len(planned)) + (not plain)
for a, b in zip(plain, planned):
    if a != b:
        print(f"by constant evaluation: {a}\nby an executable:       {b}")
print(f"{len(plain) - failed if plain else 0} passed, {failed} failed")
sys.exit(failed > 0)
