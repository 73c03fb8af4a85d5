# Writes the manual page of all modules from the output of --help-module.
#   cmake -DPROGRAM=showstopper -DPAGE=FILE -P modules-page.cmake
unset(ENV{SHOWSTOPPER_MODULE_PATH}) # modules of the builder
execute_process(COMMAND ${PROGRAM} --list-modules OUTPUT_VARIABLE list COMMAND_ERROR_IS_FATAL ANY)
set(page [[.TH SHOWSTOPPER-MODULES 7 2026-11-24 "Showstopper" "Miscellaneous"
.SH NAME
showstopper-modules \- modules of showstopper and their options
.SH DESCRIPTION
The trace defines the target load, the feedback measures the load, the control decides how much may run,
the space which instances run, and the dithering when they run. Options are written
.IR MAIN , name = value ,...;
the first one listed is the main option, whose value may come first without its name.
In times, m is milliseconds and M is minutes.
The text below is what
.B showstopper --help-module
.IR KIND / NAME
prints.
.SH "ROUNDS, PERIODS AND PEERS"
The authors of the original tool chose these by trial and error, and advise:
.TP
.B tau
The mean length of a round
.RB ( averageq ", " fixedq )
is of the order of scheduling quanta, tens of milliseconds; rather more, because each round costs a switch.
A round number, such as 100 ms, may interfere with other periodic work.
.TP
.B period
The memory of the load estimate is on par with tau: long rounds justify a long period, and short ones require a
faster response, since the duty would oscillate otherwise.
It cannot be shorter than the system needs to count CPU time, in most cases hundreds of milliseconds; the more
CPUs, the shorter it may be.
With seconds, the duty would swing slowly between 0 and 100 %.
.TP
.B peers
Raise it as long as that makes control more stable; above 2
.RB ( rbpid )
and 3
.RB ( geom )
it did not.
]])
string(REGEX MATCHALL "[a-z]+/[a-z0-9_-]+" modules "${list}")
list(REMOVE_DUPLICATES modules)
foreach(module ${modules})
    execute_process(COMMAND ${PROGRAM} --help-module ${module}
        OUTPUT_VARIABLE help RESULT_VARIABLE status ERROR_QUIET)
    if(status EQUAL 0)
        string(REPLACE "\\" "\\e" help "${help}")
        string(REGEX REPLACE "\n([.'])" "\n\\\\&\\1" help "${help}")
        string(REPLACE "-" "\\-" help "${help}")
        string(APPEND page ".SH ${module}\n.nf\n${help}.fi\n")
    endif()
endforeach()
string(APPEND page ".SH SEE ALSO\n.BR showstopper (1),\n.BR showstopper-method (7)\n")
file(WRITE ${PAGE} "${page}")
